//! Limits of an attempt and of an upload. The limits of other subjects stand where they are enforced;
//! docs/reference/limits.md lists all.

use serde::{Deserialize, Serialize};

/// Resources that one attempt at a transition may use. The time limit is the trigger's own (`timeout`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// wasmtime fuel per attempt (about one unit per WebAssembly instruction).
    pub fuel: u64,
    /// Linear memory in bytes, all memories of the component together.
    pub memory_bytes: u64,
    /// Table elements, all tables of the component together.
    pub table_elements: u64,
    /// Core instances, memories and tables a component may have.
    pub instances: u32,
    /// Calls into the host per attempt.
    pub host_calls: u64,
    /// Log bytes kept per attempt; what comes after is dropped and counted.
    pub log_bytes: u64,
    /// Bytes kept per attempt of what the host answered the guest, so that it can be run again; an
    /// attempt that asked for more cannot.
    pub recording_bytes: u64,
    /// Bytes of the returned clause, or of all returned values together.
    pub output_bytes: u64,
    /// Bytes of a component at upload.
    pub component_bytes: u64,
    /// Functions in a component, all its modules together, at upload.
    pub component_functions: u32,
    /// Seconds of computing, all processors together, that compiling a component may take.
    pub compile_cpu_seconds: u64,
    /// Seconds that compiling a component is waited for, however little of the processors it gets.
    pub compile_wait_seconds: u64,
    /// Address space in bytes of the process that compiles a component.
    pub compile_memory_bytes: u64,
    /// Compiled code of a component, in bytes.
    pub compiled_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            fuel: 10_000_000_000,
            memory_bytes: 64 << 20,
            table_elements: 100_000,
            instances: 64,
            host_calls: 100_000,
            log_bytes: 64 << 10,
            recording_bytes: 64 << 10,
            output_bytes: 256 << 10,
            component_bytes: 32 << 20,
            component_functions: 200_000,
            compile_cpu_seconds: 180,
            compile_wait_seconds: 600,
            compile_memory_bytes: 3 << 30,
            compiled_bytes: 256 << 20,
        }
    }
}
