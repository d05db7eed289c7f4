;; Fills a large table again and again.
(table $t 90000 funcref)
(func (export "run") (type $run)
  (loop $again
    (table.fill $t (i32.const 0) (ref.null func) (i32.const 90000))
    (br $again))
  unreachable)
