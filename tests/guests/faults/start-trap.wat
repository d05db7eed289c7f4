;; Traps before anything of it is called.
(func $start unreachable)
(start $start)
(func (export "run") (type $run) (i32.const 3200))
