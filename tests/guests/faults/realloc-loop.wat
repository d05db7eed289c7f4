;; Never says where its arguments are to be put. (In place of the usual `cabi_realloc`.)
(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (loop $again (br $again)) unreachable)
(func (export "run") (type $run) (i32.const 3200))
