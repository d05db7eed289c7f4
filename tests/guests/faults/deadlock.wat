;; Waits for what never comes.
(import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $subscribe (param i64) (result i32)))
(import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
(func (export "run") (type $run)
  (call $block (call $subscribe (i64.const -1)))
  (i32.const 3200))
