;; WASI preview 1 for Go's runtime, on the contract's own host. Unlike the usual adapter it has no memory of
;; its own: that one grows the module's memory, and Go's allocator takes every page for its own. Nor does it
;; import anything of WASI, each import of which costs every call.
(module
  (import "env" "memory" (memory 0))
  (import "wed:flow/host@0.1.0" "log" (func $log (param i32 i32 i32 i32 i32)))
  (import "wed:flow/host@0.1.0" "now" (func $now (result i64)))
  (import "wed:flow/host@0.1.0" "random" (func $random (result i64)))
  (import "wed:flow/host@0.1.0" "sleep" (func $sleep (param i64)))

  ;; Where the SDK has room for a line of what is printed; 0 before `run`: then, and in `describe`, the host
  ;; must not be called.
  (global $line (mut i32) (i32.const 0))
  (global $room (mut i32) (i32.const 0))
  (global $filled (mut i32) (i32.const 0))
  ;; 1 for standard output, 2 for standard error, which are the log's `info` and `warn`.
  (global $stream (mut i32) (i32.const 1))
  ;; The time before `run`: nothing but an order. Begins after what Go's start may have seen.
  (global $tick (mut i64) (i64.const 0x100000000))
  (global $seed (mut i64) (i64.const 0x9e3779b97f4a7c15))

  ;; What the SDK calls when `run` begins, and when it ends.
  (func (export "wedflow_begin") (param i32 i32)
    (global.set $line (local.get 0)) (global.set $room (local.get 1)))
  (func $flush (export "wedflow_end")
    (if (global.get $filled) (then
      (call $mend)
      (call $log (global.get $stream) (global.get $line) (global.get $filled) (i32.const 4) (i32.const 0))
      (global.set $filled (i32.const 0)))))

  ;; How many bytes the UTF-8 character at a place has; 0 when there is none.
  (func $character (param $at i32) (param $left i32) (result i32)
    (local $lead i32) (local $bytes i32) (local $low i32) (local $high i32) (local $n i32)
    (local.set $lead (i32.load8_u (local.get $at)))
    (if (i32.lt_u (local.get $lead) (i32.const 0x80)) (then (return (i32.const 1))))
    (if (i32.or (i32.lt_u (local.get $lead) (i32.const 0xc2)) (i32.gt_u (local.get $lead) (i32.const 0xf4)))
      (then (return (i32.const 0))))
    (local.set $bytes (i32.add (i32.const 2) (i32.add
      (i32.ge_u (local.get $lead) (i32.const 0xe0)) (i32.ge_u (local.get $lead) (i32.const 0xf0)))))
    (if (i32.gt_u (local.get $bytes) (local.get $left)) (then (return (i32.const 0))))
    ;; What the second byte may be: no detours, no surrogates, nothing beyond U+10FFFF.
    (local.set $low (i32.const 0x80)) (local.set $high (i32.const 0xbf))
    (if (i32.eq (local.get $lead) (i32.const 0xe0)) (then (local.set $low (i32.const 0xa0))))
    (if (i32.eq (local.get $lead) (i32.const 0xed)) (then (local.set $high (i32.const 0x9f))))
    (if (i32.eq (local.get $lead) (i32.const 0xf0)) (then (local.set $low (i32.const 0x90))))
    (if (i32.eq (local.get $lead) (i32.const 0xf4)) (then (local.set $high (i32.const 0x8f))))
    (local.set $n (i32.const 1))
    (loop $next
      (local.set $lead (i32.load8_u (i32.add (local.get $at) (local.get $n))))
      (if (i32.or (i32.lt_u (local.get $lead) (local.get $low)) (i32.gt_u (local.get $lead) (local.get $high)))
        (then (return (i32.const 0))))
      (local.set $low (i32.const 0x80)) (local.set $high (i32.const 0xbf))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $n) (local.get $bytes))))
    (local.get $bytes))
  ;; A byte that is no UTF-8 becomes a question mark: the host takes text only.
  (func $mend
    (local $at i32) (local $end i32) (local $bytes i32)
    (local.set $at (global.get $line))
    (local.set $end (i32.add (global.get $line) (global.get $filled)))
    (loop $next
      (local.set $bytes (call $character (local.get $at) (i32.sub (local.get $end) (local.get $at))))
      (if (i32.eqz (local.get $bytes)) (then
        (i32.store8 (local.get $at) (i32.const 0x3f))
        (local.set $bytes (i32.const 1))))
      (local.set $at (i32.add (local.get $at) (local.get $bytes)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $end)))))

  (func $nanoseconds (result i64)
    (if (result i64) (global.get $line)
      (then (i64.mul (call $now) (i64.const 1000)))
      (else (global.set $tick (i64.add (global.get $tick) (i64.const 1))) (global.get $tick))))
  (func (export "clock_time_get") (param i32 i64 i32) (result i32)
    (i64.store align=1 (local.get 2) (call $nanoseconds)) (i32.const 0))
  (func (export "clock_res_get") (param i32 i32) (result i32)
    (i64.store align=1 (local.get 1) (i64.const 1000)) (i32.const 0))

  ;; Chance is the host's; before `run` it is Marsaglia's xorshift, the same in every start.
  (func $chance (result i64)
    (if (global.get $line) (then (return (call $random))))
    (global.set $seed (i64.xor (global.get $seed) (i64.shl (global.get $seed) (i64.const 13))))
    (global.set $seed (i64.xor (global.get $seed) (i64.shr_u (global.get $seed) (i64.const 7))))
    (global.set $seed (i64.xor (global.get $seed) (i64.shl (global.get $seed) (i64.const 17))))
    (global.get $seed))
  (func (export "random_get") (param $at i32) (param $left i32) (result i32)
    (local $drawn i64)
    (block $done
      (loop $words
        (br_if $done (i32.lt_u (local.get $left) (i32.const 8)))
        (i64.store align=1 (local.get $at) (call $chance))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (local.set $left (i32.sub (local.get $left) (i32.const 8)))
        (br $words)))
    (if (local.get $left) (then
      (local.set $drawn (call $chance))
      (loop $bytes
        (i64.store8 (local.get $at) (local.get $drawn))
        (local.set $drawn (i64.shr_u (local.get $drawn) (i64.const 8)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (br_if $bytes (local.get $left)))))
    (i32.const 0))

  ;; What is printed is collected to lines of the log: Go's runtime prints a word at a time.
  (func $put (param $stream i32) (param $at i32) (param $length i32)
    (local $byte i32)
    (if (i32.ne (local.get $stream) (global.get $stream)) (then
      (call $flush)
      (global.set $stream (local.get $stream))))
    (block $done (loop $next
      (br_if $done (i32.eqz (local.get $length)))
      (local.set $byte (i32.load8_u (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (local.set $length (i32.sub (local.get $length) (i32.const 1)))
      (if (i32.eq (local.get $byte) (i32.const 10))
        (then (call $flush))
        (else
          ;; A line that is too long ends before a character, never inside one.
          (if (i32.and
                (i32.ge_u (global.get $filled) (i32.sub (global.get $room) (i32.const 4)))
                (i32.ne (i32.and (local.get $byte) (i32.const 0xc0)) (i32.const 0x80)))
            (then (call $flush)))
          (if (i32.lt_u (global.get $filled) (global.get $room)) (then
            (i32.store8 (i32.add (global.get $line) (global.get $filled)) (local.get $byte))
            (global.set $filled (i32.add (global.get $filled) (i32.const 1)))))))
      (br $next))))
  (func (export "fd_write") (param $fd i32) (param $vectors i32) (param $count i32) (param $written i32) (result i32)
    (local $sum i32) (local $length i32)
    (if (i32.gt_u (i32.sub (local.get $fd) (i32.const 1)) (i32.const 1)) (then (return (i32.const 8))))
    (block $done (loop $next
      (br_if $done (i32.eqz (local.get $count)))
      (local.set $length (i32.load offset=4 align=1 (local.get $vectors)))
      (if (global.get $line) (then
        (call $put (local.get $fd) (i32.load align=1 (local.get $vectors)) (local.get $length))))
      (local.set $sum (i32.add (local.get $sum) (local.get $length)))
      (local.set $vectors (i32.add (local.get $vectors) (i32.const 8)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br $next)))
    (i32.store align=1 (local.get $written) (local.get $sum)) (i32.const 0))

  ;; Go's runtime waits for its next timer here: the first subscription is a clock. There is nothing else
  ;; that could be waited for.
  (func (export "poll_oneoff") (param $in i32) (param $out i32) (param $count i32) (param $events i32) (result i32)
    (local $for i64)
    (if (i32.eqz (local.get $count)) (then (return (i32.const 28))))
    (if (i32.load8_u offset=8 (local.get $in)) (then (return (i32.const 58))))
    (local.set $for (i64.load offset=24 align=1 (local.get $in)))
    (if (i32.and (i32.load16_u offset=40 align=1 (local.get $in)) (i32.const 1)) (then
      (local.set $for (i64.sub (local.get $for) (call $nanoseconds)))))
    (if (i64.gt_s (local.get $for) (i64.const 0)) (then
      (if (global.get $line)
        (then (call $sleep (i64.add (i64.div_u (local.get $for) (i64.const 1000)) (i64.const 1))))
        (else (global.set $tick (i64.add (global.get $tick) (local.get $for)))))))
    (i64.store align=1 (local.get $out) (i64.load align=1 (local.get $in)))
    (i64.store offset=8 align=1 (local.get $out) (i64.const 0))
    (i64.store offset=16 align=1 (local.get $out) (i64.const 0))
    (i64.store offset=24 align=1 (local.get $out) (i64.const 0))
    (i32.store align=1 (local.get $events) (i32.const 1))
    (i32.const 0))

  (func (export "proc_exit") (param i32) (call $flush) unreachable)
  (func (export "proc_raise") (param i32) (result i32) (call $flush) unreachable)
  (func (export "sched_yield") (result i32) (i32.const 0))

  ;; There are no arguments, and there is no environment.
  (func $none (param i32 i32) (result i32)
    (i32.store align=1 (local.get 0) (i32.const 0)) (i32.store align=1 (local.get 1) (i32.const 0)) (i32.const 0))
  (func $nothing (param i32 i32) (result i32) (i32.const 0))
  (export "args_sizes_get" (func $none))
  (export "environ_sizes_get" (func $none))
  (export "args_get" (func $nothing))
  (export "environ_get" (func $nothing))

  ;; There are no files and no sockets: `badf`.
  (func $b1 (param i32) (result i32) (i32.const 8))
  (func $b2 (param i32 i32) (result i32) (i32.const 8))
  (func $b3 (param i32 i32 i32) (result i32) (i32.const 8))
  (func $b4 (param i32 i32 i32 i32) (result i32) (i32.const 8))
  (func $b5 (param i32 i32 i32 i32 i32) (result i32) (i32.const 8))
  (func $b6 (param i32 i32 i32 i32 i32 i32) (result i32) (i32.const 8))
  (export "fd_close" (func $b1))
  (export "fd_datasync" (func $b1))
  (export "fd_sync" (func $b1))
  (export "fd_fdstat_get" (func $b2))
  (export "fd_fdstat_set_flags" (func $b2))
  (export "fd_filestat_get" (func $b2))
  (export "fd_prestat_get" (func $b2))
  (export "fd_renumber" (func $b2))
  (export "fd_tell" (func $b2))
  (export "sock_shutdown" (func $b2))
  (export "fd_prestat_dir_name" (func $b3))
  (export "path_create_directory" (func $b3))
  (export "path_remove_directory" (func $b3))
  (export "path_unlink_file" (func $b3))
  (export "sock_accept" (func $b3))
  (export "fd_read" (func $b4))
  (export "path_filestat_get" (func $b5))
  (export "path_symlink" (func $b5))
  (export "sock_send" (func $b5))
  (export "path_readlink" (func $b6))
  (export "path_rename" (func $b6))
  (export "sock_recv" (func $b6))
  (func (export "fd_advise") (param i32 i64 i64 i32) (result i32) (i32.const 8))
  (func (export "fd_allocate") (param i32 i64 i64) (result i32) (i32.const 8))
  (func (export "fd_fdstat_set_rights") (param i32 i64 i64) (result i32) (i32.const 8))
  (func (export "fd_filestat_set_size") (param i32 i64) (result i32) (i32.const 8))
  (func (export "fd_filestat_set_times") (param i32 i64 i64 i32) (result i32) (i32.const 8))
  (func (export "fd_pread") (param i32 i32 i32 i64 i32) (result i32) (i32.const 8))
  (func (export "fd_pwrite") (param i32 i32 i32 i64 i32) (result i32) (i32.const 8))
  (func (export "fd_readdir") (param i32 i32 i32 i64 i32) (result i32) (i32.const 8))
  (func (export "fd_seek") (param i32 i64 i32 i32) (result i32) (i32.const 8))
  (func (export "path_filestat_set_times") (param i32 i32 i32 i32 i64 i64 i32) (result i32) (i32.const 8))
  (func (export "path_link") (param i32 i32 i32 i32 i32 i32 i32) (result i32) (i32.const 8))
  (func (export "path_open") (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32) (i32.const 8)))
