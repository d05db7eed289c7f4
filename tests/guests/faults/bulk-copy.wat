;; Copies 16 MiB onto themselves, a byte further, again and again.
(func (export "run") (type $run)
  (drop (memory.grow $memory (i32.const 512)))
  (loop $again
    (memory.copy (i32.const 131073) (i32.const 131072) (i32.const 16777216))
    (br $again))
  unreachable)
