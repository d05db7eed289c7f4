;; Fills 32 MiB again and again: few instructions, much work.
(func (export "run") (type $run)
  (drop (memory.grow $memory (i32.const 512)))
  (loop $again
    (memory.fill (i32.const 131072) (i32.const 7) (i32.const 33554432))
    (br $again))
  unreachable)
