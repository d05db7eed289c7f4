;; Says that it panics, again and again.
(import "wed:flow/host@0.1.0" "panicked" (func $say (param i64 i64 i64 i64)))
(func (export "run") (type $run)
  (loop $again
    (call $say (i64.const -1) (i64.const -1) (i64.const -1) (i64.const -1))
    (br $again))
  unreachable)
