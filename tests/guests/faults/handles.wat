;; Takes 65 000 resources of the host and gives none back.
(import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $subscribe (param i64) (result i32)))
(func (export "run") (type $run)
  (local $left i32)
  (local.set $left (i32.const 65000))
  (loop $again
    (drop (call $subscribe (i64.const 1)))
    (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
  (i32.const 3200))
