;; Grows a table until it is told no.
(table $t 1 funcref)
(func (export "run") (type $run)
  (loop $again
    (drop (table.grow $t (ref.null func) (i32.const 10000)))
    (br $again))
  unreachable)
