;; Never gets beyond its start function.
(func $start (loop $again (br $again)))
(start $start)
(func (export "run") (type $run) (i32.const 3200))
