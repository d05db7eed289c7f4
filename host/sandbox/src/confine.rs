//! Walls of the kernel around a guest process, before its first guest: no files, no network, no other processes, no
//! new programs. Its socket, memory, time and random numbers are left.

use std::collections::BTreeMap;

use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetError, RulesetStatus, Scope};
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

/// Bytes of the largest file in memory that holds the initial memory of guests.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Number of descriptors: for the socket, the event loop, and one for each module's initial memory.
const DESCRIPTORS_MAX: u64 = 4_096;

/// The kernel's request by which the engine finds the pages that a guest wrote (`PAGEMAP_SCAN`).
const PAGEMAP_SCAN: u64 = 0xc060_6610;

/// System calls that a guest process makes. Each is about its own memory, threads and clocks, or about descriptors that
/// it has; it cannot open, connect or inherit another.
const CALLS: &[libc::c_long] = &[
    libc::SYS_brk,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_close,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fstat,
    libc::SYS_ftruncate,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_memfd_create,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_recvfrom,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    // A thread that was started before the filter may begin behind it.
    libc::SYS_rseq,
    libc::SYS_set_robust_list,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_sendto,
    libc::SYS_sigaltstack,
    libc::SYS_write,
    libc::SYS_writev,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
];

/// Confines the process and all its threads for good.
///
/// # Errors
/// The kernel lacks a wall or refuses it: no guest may run here.
pub(crate) fn confine() -> Result<(), String> {
    for (resource, most) in [
        (Resource::Core, 0),
        (Resource::Memlock, 0),
        (Resource::Msgqueue, 0),
        (Resource::Nofile, DESCRIPTORS_MAX),
        (Resource::Fsize, FILE_BYTES_MAX),
    ] {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(resource, limit).map_err(|error| format!("a limit is refused: {error}"))?;
    }
    // Other processes of this user read no memory of it.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(|error| format!("it stays dumpable: {error}"))?;
    match landlock() {
        Ok(RulesetStatus::NotEnforced) => return Err("the kernel has no Landlock".to_owned()),
        Ok(_) => {}
        Err(error) => return Err(format!("Landlock is refused: {error}")),
    }
    let filter = filter().map_err(|error| format!("there is no seccomp filter: {error}"))?;
    seccompiler::apply_filter_all_threads(&filter).map_err(|error| format!("the seccomp filter is refused: {error}"))
}

/// Takes all files, ports and other processes from this thread, as far as this version of the kernel knows how to.
fn landlock() -> Result<RulesetStatus, RulesetError> {
    let newest = ABI::V6;
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(newest))?
        .handle_access(AccessNet::from_all(newest))?
        .scope(Scope::from_all(newest))?
        .create()?
        .restrict_self()?;
    Ok(status.ruleset)
}

/// The filter: [`CALLS`], and three more with one argument each: a process that aborts sends itself a signal.
fn filter() -> Result<BpfProgram, seccompiler::BackendError> {
    let with_argument = |argument: u8, value: u64| -> Result<SeccompRule, _> {
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)?;
        SeccompRule::new(vec![condition])
    };
    let mut calls: BTreeMap<i64, Vec<SeccompRule>> = CALLS.iter().map(|call| (*call, Vec::new())).collect();
    calls.insert(libc::SYS_ioctl, vec![with_argument(1, PAGEMAP_SCAN)?]);
    let own = u64::from(std::process::id());
    calls.insert(libc::SYS_tgkill, vec![with_argument(0, own)?]);
    calls.insert(libc::SYS_fcntl, vec![with_argument(1, libc::F_ADD_SEALS as u64)?]);
    SeccompFilter::new(
        calls,
        SeccompAction::Errno(libc::EPERM as u32),
        SeccompAction::Allow,
        std::env::consts::ARCH.try_into()?,
    )?
    .try_into()
}
