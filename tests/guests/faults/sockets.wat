;; Opens a socket.
(import "wasi:sockets/tcp-create-socket@0.2.0" "create-tcp-socket" (func $create (param i32 i32)))
(func (export "run") (type $run)
  (call $create (i32.const 0) (i32.const 3400))
  (i32.const 3200))
