;; Lets the host draw 64 KiB of random bytes at a time, again and again.
(import "wasi:random/random@0.2.0" "get-random-bytes" (func $draw (param i64 i32)))
(func (export "run") (type $run)
  (loop $again
    (call $draw (i64.const 65536) (i32.const 3400))
    (br $again))
  unreachable)
