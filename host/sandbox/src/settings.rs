//! Settings of a sandbox, and the engine that follows from them.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, WasmFeatures};

use wedflow_contract::{MODULE_MEMORIES, MODULE_TABLES};

use crate::TimeSlices;
use crate::error::SetupError;

/// Tables that a slot has room for.
pub(crate) const TABLES_PER_SLOT: u32 = 4;

/// Core module instances that a slot has room for.
pub(crate) const INSTANCES_PER_SLOT: u32 = 8;

/// Proposals that no component may use.
const NOT_SERVED: WasmFeatures = WasmFeatures::THREADS
    .union(WasmFeatures::SHARED_EVERYTHING_THREADS)
    .union(WasmFeatures::MEMORY64)
    .union(WasmFeatures::EXCEPTIONS)
    .union(WasmFeatures::FUNCTION_REFERENCES)
    .union(WasmFeatures::GC)
    .union(WasmFeatures::STACK_SWITCHING)
    .union(WasmFeatures::CUSTOM_PAGE_SIZES)
    .union(WasmFeatures::WIDE_ARITHMETIC);

/// Bytes of a memory that are reset in place, written or not, where the machine has swap.
const KEPT_WITH_SWAP: usize = 64 << 10;

/// Memory maps that are left to the rest of the process.
const MAPS_FOR_OTHERS: u64 = 4_096;

/// Processes in which guests run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Guests {
    /// The process of the sandbox.
    #[default]
    InProcess,
    /// Processes of one tenant each, behind walls of the kernel, in a program that
    /// [serves as a child](crate::serve_as_child).
    Processes {
        /// Number of processes in which a tenant's guests compute side by side.
        per_tenant: usize,
    },
}

/// Settings of a [`Sandbox`](crate::Sandbox). [`Settings::fast`] suits computing guests, [`Settings::waiting`]
/// suits very many that mostly wait. A guest process gets those that are written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Guests that may be in a call at once, computing or waiting; further calls queue. Each costs
    /// address space ([`Settings::memory_reservation`]) and [`Settings::maps_per_guest`] of the
    /// memory maps that the kernel allows a process (`vm.max_map_count`).
    pub concurrent: u32,
    /// Address space set aside for one linear memory, in bytes. From 4 GiB on no access needs a
    /// bounds check; below, code that computes is up to a half slower, and page tables are denser.
    pub memory_reservation: u64,
    /// The largest linear memory, in bytes; no limit of a call can allow more. At most
    /// [`Settings::memory_reservation`].
    pub memory_bytes: u64,
    /// Linear memory of all guests together, in bytes; a tenant has a share of it. By default half of the machine's.
    pub memory_of_all: u64,
    /// Elements of the largest table; no limit of a call can allow more.
    pub table_elements: u32,
    /// Bytes of a slot's linear memory that stay resident for the next guest instead of going back
    /// to the kernel, where a call touched that many.
    pub keep_resident: usize,
    /// Bytes of WebAssembly stack that a guest has.
    pub stack: usize,
    /// Maps a memory's initial content from an image, page by page as it is written, instead of copying it. Mapping
    /// pays for guests with much initial content (interpreters), and takes two memory maps more for each guest in a
    /// call.
    pub copy_on_write: bool,
    /// Optimises code when it is compiled. Without it a component is compiled in a fraction of the time and computes
    /// slower; fuel and results are the same. For code that runs a few times.
    pub optimise: bool,
    /// Compiled components kept ready; those that were not asked for lately are dropped first.
    pub components: usize,
    /// The folder where compiled code is kept from one process to the next, mode 700; none: nowhere.
    #[serde(skip)]
    pub cache: Option<std::path::PathBuf>,
    /// Keeps the compiled functions of components with an interpreter there as well, and compiles those components in
    /// this process: for an author, who builds the same interpreter with another script again and again. Never for
    /// components of others.
    #[serde(skip)]
    pub functions: bool,
    /// Processes in which guests run.
    #[serde(skip)]
    pub guests: Guests,
    /// Time slices of guests that compute for long; its own when none are given.
    /// Sandboxes of one process should share one.
    #[serde(skip)]
    pub slices: Option<TimeSlices>,
    /// The server's time: microseconds since 1970-01-01T00:00:00Z.
    #[serde(skip)]
    pub clock: fn() -> i64,
    /// 64 random bits.
    #[serde(skip)]
    pub random: fn() -> u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings::fast()
    }
}

impl Settings {
    /// Returns settings for guests that compute: 1 000 at once, no bounds checks.
    pub fn fast() -> Self {
        Settings {
            concurrent: 1_000,
            memory_reservation: 4 << 30,
            memory_bytes: 256 << 20,
            memory_of_all: memory_of_machine() / 2,
            table_elements: 100_000,
            keep_resident: 1 << 20,
            stack: 128 << 10,
            copy_on_write: true,
            optimise: true,
            components: 256,
            cache: None,
            functions: false,
            guests: Guests::InProcess,
            slices: None,
            clock: system_clock,
            random: rand::random,
        }
    }

    /// Returns settings for very many guests that mostly wait: 10 000 at once, less memory for each.
    pub fn waiting() -> Self {
        Settings {
            concurrent: 10_000,
            memory_reservation: 64 << 20,
            memory_bytes: 64 << 20,
            keep_resident: 64 << 10,
            copy_on_write: false,
            ..Settings::fast()
        }
    }

    /// For components that hold an interpreter with an initialised heap (Python, JavaScript), as a
    /// sandbox of these settings sets up in addition to its own: the heap mapped, not copied, most of what a
    /// call touches of it kept resident, and stack for a thousand calls of the interpreted language.
    /// At most 64 at once, since what is kept resident is kept for each.
    pub(crate) fn for_interpreters(&self) -> Self {
        let memory_bytes = self.memory_bytes.max(64 << 20);
        Settings {
            concurrent: self.concurrent.min(64),
            memory_reservation: self.memory_reservation.max(memory_bytes),
            memory_bytes,
            keep_resident: 8 << 20,
            stack: 1 << 20,
            copy_on_write: true,
            ..self.clone()
        }
    }

    /// Memory maps that a guest in a call takes, two of them from the sandbox's start: its stack and
    /// the guard below, its memory and the reservation behind, and with
    /// [`Settings::copy_on_write`] the parts of the image. Some guests of unusual shape take more.
    pub fn maps_per_guest(&self) -> u32 {
        if self.copy_on_write { 6 } else { 4 }
    }

    /// Refuses more guests than the kernel has memory maps for: at that limit it is not the guest
    /// alone that gets no memory, but whoever asks next in the whole process.
    fn check_maps(&self) -> Result<(), SetupError> {
        let limit = std::fs::read_to_string("/proc/sys/vm/max_map_count").ok();
        // Elsewhere than on Linux there is no such limit.
        let Some(limit) = limit.and_then(|text| text.trim().parse::<u64>().ok()) else {
            return Ok(());
        };
        let each = u64::from(self.maps_per_guest());
        let needed = u64::from(self.concurrent) * each + MAPS_FOR_OTHERS;
        if needed > limit {
            return Err(SetupError::Maps {
                concurrent: self.concurrent,
                needed,
                limit,
                most: limit.saturating_sub(MAPS_FOR_OTHERS) / each,
            });
        }
        Ok(())
    }

    /// Returns the settings that decide how code is compiled, for a compiler that runs nothing.
    pub(crate) fn code(&self) -> Config {
        let mut config = Config::new();
        config
            .memory_init_cow(self.copy_on_write)
            .cranelift_opt_level(match self.optimise {
                true => OptLevel::Speed,
                false => OptLevel::None,
            })
            // What `inspect` refuses is refused here once more, whichever way code came; and what a processor may
            // compute in its own way is computed in one: a replay elsewhere finds the same.
            .wasm_features(NOT_SERVED, false)
            .relaxed_simd_deterministic(true)
            .cranelift_nan_canonicalization(true)
            .consume_fuel(true)
            .epoch_interruption(true)
            .concurrency_support(false)
            .memory_reservation(self.memory_reservation)
            .memory_guard_size(64 << 10)
            // The host's own functions run on the same stack.
            .async_stack_size(self.stack + (128 << 10))
            .max_wasm_stack(self.stack);
        config
    }

    /// The engine. Why each value: `docs/decisions/0002-sandbox-settings.md`.
    pub(crate) fn engine(&self) -> Result<Engine, SetupError> {
        let memory = usize::try_from(self.memory_bytes)
            .map_err(|_| SetupError::Setting("memory_bytes", "does not fit this machine"))?;
        if self.concurrent == 0 {
            return Err(SetupError::Setting("concurrent", "must be at least 1"));
        }
        if self.memory_bytes > self.memory_reservation {
            return Err(SetupError::Setting("memory_bytes", "must not be more than memory_reservation"));
        }
        self.check_maps()?;
        // The engine asks the kernel which pages a guest wrote, and gives the next one of the slot what they held
        // before. Version 48 takes a page that was swapped out for one that nobody wrote: the next guest would
        // find it as it was left. Where there is swap, it does not ask.
        let swap = std::fs::read_to_string("/proc/swaps").is_ok_and(|text| lists_swap(&text));
        let (scan, keep_resident) = if swap {
            tracing::warn!(
                "this machine has swap: calls are slower, because memory that a guest wrote cannot be told from \
                 what it left alone; turn swap off: swapoff -a"
            );
            (Enabled::No, self.keep_resident.min(KEPT_WITH_SWAP))
        } else {
            (Enabled::Auto, self.keep_resident)
        };
        let mut pool = PoolingAllocationConfig::new();
        pool.total_component_instances(self.concurrent)
            .total_core_instances(self.concurrent.saturating_mul(INSTANCES_PER_SLOT))
            .total_memories(self.concurrent)
            .total_tables(self.concurrent.saturating_mul(TABLES_PER_SLOT))
            .total_stacks(self.concurrent)
            .max_memories_per_module(per_module(MODULE_MEMORIES))
            .max_tables_per_module(per_module(MODULE_TABLES))
            .max_memory_size(memory)
            .table_elements(self.table_elements as usize)
            .linear_memory_keep_resident(keep_resident)
            .table_keep_resident(64 << 10)
            .pagemap_scan(scan);
        let mut config = self.code();
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        Engine::new(&config).map_err(|error| SetupError::Engine(format!("{error:#}")))
    }
}

/// A bound of the contract's as the runtime counts.
fn per_module(bound: u64) -> u32 {
    u32::try_from(bound).unwrap_or(u32::MAX)
}

/// Returns true when the kernel lists a swap device below its heading.
fn lists_swap(text: &str) -> bool {
    text.lines().skip(1).any(|line| !line.trim().is_empty())
}

/// Bytes of memory that this process may have: the machine's, or its control group's where that is less.
fn memory_of_machine() -> u64 {
    let info = rustix::system::sysinfo();
    let of_machine = info.totalram.saturating_mul(u64::from(info.mem_unit));
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    memory_of_groups(Path::new("/sys/fs/cgroup"), &groups).map_or(of_machine, |group| group.min(of_machine))
}

/// Returns the least limit of the control groups of a process, as the kernel lists them, and of those around them. The
/// limits of version 2 are in `memory.max`, those of version 1 below `memory`, in `memory.limit_in_bytes`.
fn memory_of_groups(mounted: &Path, groups: &str) -> Option<u64> {
    let limit = |file: PathBuf| -> Option<u64> { std::fs::read_to_string(file).ok()?.trim().parse().ok() };
    let of_line = |line: &str| -> Option<u64> {
        let mut parts = line.splitn(3, ':');
        let (number, controllers, group) = (parts.next()?, parts.next()?, parts.next()?);
        let (root, name) = match controllers {
            "" if number == "0" => (mounted.to_owned(), "memory.max"),
            of if of.split(',').any(|one| one == "memory") => (mounted.join("memory"), "memory.limit_in_bytes"),
            _ => return None,
        };
        // Within a container the root of the groups is the container's own.
        (Path::new(group.trim_start_matches('/')).ancestors())
            .filter_map(|group| limit(root.join(group).join(name)))
            .min()
    };
    groups.lines().filter_map(of_line).min()
}

fn system_clock() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_micros()).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_refuses_what_the_check_of_uploads_refuses() {
        let engine = Engine::new(&Settings::fast().code()).expect("an engine");
        for (feature, text) in [
            ("threads", "(module (memory 1 1 shared))"),
            ("memory64", "(module (memory i64 1))"),
            ("garbage collection", "(module (type (struct)))"),
            ("exceptions", "(module (tag))"),
        ] {
            let module = wat::parse_str(text).expect("WAT");
            let compiled = engine.precompile_module(&module);
            assert!(compiled.is_err(), "{feature}");
        }
    }

    #[test]
    fn memory_of_a_unit_of_systemd_and_of_a_container_is_that_of_its_group() {
        let folder = std::env::temp_dir().join(format!("wedflow-groups-{}", std::process::id()));
        let put = |file: &str, text: &str| {
            let file = folder.join(file);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, text).expect("written");
        };
        put("memory.max", "max\n");
        put("system.slice/wedflow.service/memory.max", "4294967296\n");
        put("system.slice/memory.max", "8589934592\n");
        put("memory/docker/a/memory.limit_in_bytes", "1073741824\n");
        put("memory/memory.limit_in_bytes", "9223372036854771712\n");
        for (groups, limit) in [
            ("0::/system.slice/wedflow.service\n", Some(4 << 30)),
            ("0::/system.slice/other.service\n", Some(8 << 30)),
            ("0::/\n", None),
            ("5:cpu:/docker/a\n4:memory:/docker/a\n", Some(1 << 30)),
            ("4:cpu,memory:/elsewhere\n", Some(9_223_372_036_854_771_712)),
            ("", None),
        ] {
            assert_eq!(memory_of_groups(&folder, groups), limit, "{groups}");
        }
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn swap_is_told_by_the_kernels_list() {
        let heading = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
        assert!(!lists_swap(heading) && !lists_swap(""));
        assert!(lists_swap(&format!("{heading}/dev/zram0 partition\t1048572\t0\t100\n")));
    }
}
