//! A heap that only ever grows: a call is short, and its instance is thrown away after it.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use core::ptr::null_mut;

struct Heap {
    next: Cell<usize>,
    end: Cell<usize>,
}

// SAFETY: WebAssembly without threads has one thread.
unsafe impl Sync for Heap {}

// `memcmp` and its kin: the target's C library has them, and needs no WASI for them.
#[link(name = "c")]
unsafe extern "C" {}

unsafe extern "C" {
    static __heap_base: u8;
}

// SAFETY: every block lies in memory that was grown (or was free from the start) and is handed out
// once.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if self.next.get() == 0 {
            self.next.set(&raw const __heap_base as usize);
            self.end.set(core::arch::wasm32::memory_size(0) << 16);
        }
        let start = self.next.get().next_multiple_of(layout.align());
        let Some(end) = start.checked_add(layout.size()) else {
            return null_mut();
        };
        if end > self.end.get() {
            let pages = (end - self.end.get()).div_ceil(1 << 16);
            let before = core::arch::wasm32::memory_grow(0, pages);
            if before == usize::MAX {
                return null_mut();
            }
            self.end.set((before + pages) << 16);
        }
        self.next.set(end);
        start as *mut u8
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static HEAP: Heap = Heap { next: Cell::new(0), end: Cell::new(0) };

/// Makes room for the payload; called by the host.
#[unsafe(no_mangle)]
extern "C" fn cabi_realloc(old: *mut u8, old_size: usize, align: usize, size: usize) -> *mut u8 {
    let Ok(layout) = Layout::from_size_align(size, align) else { core::arch::wasm32::unreachable() };
    // SAFETY: the old block, if any, was handed out here with the size that the caller states.
    unsafe {
        let new = HEAP.alloc(layout);
        if new.is_null() {
            core::arch::wasm32::unreachable()
        }
        core::ptr::copy_nonoverlapping(old, new, old_size.min(size));
        new
    }
}
