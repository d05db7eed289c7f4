//! Parts that replace the standard library: memory, and an end for a panic.
//!
//! A component without WASI is instantiated faster, and one that never grows its memory faster
//! still; both matter because each call gets a fresh instance. So memory comes from what the linker leaves
//! of the initial pages, right behind the variables, which are written anyway; and it is handed out by a bump
//! pointer: the instance is gone before anything would be worth collecting.
#![allow(unsafe_code, reason = "an allocator cannot be written without; each use says why it is sound")]

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32;
use core::fmt::{self, Write};
use core::panic::PanicInfo;
use core::ptr;

use crate::bindings::wed::flow::host;
use crate::bump::{Bump, Memory, PAGE_BYTES};

unsafe extern "C" {
    /// End of the linker's own part of the memory.
    static __heap_base: u8;
}

/// The component's memory.
struct Linear;

impl Memory for Linear {
    fn arena(&self) -> (usize, usize) {
        let start = (&raw const __heap_base).addr();
        (start, self.pages() * PAGE_BYTES - start)
    }

    fn pages(&self) -> usize {
        wasm32::memory_size::<0>()
    }

    fn grow(&self, pages: usize) -> bool {
        wasm32::memory_grow::<0>(pages) != usize::MAX
    }
}

struct Allocator(Bump);

// SAFETY: a component without the thread proposal runs on one thread.
unsafe impl Sync for Allocator {}

#[global_allocator]
static ALLOCATOR: Allocator = Allocator(Bump::new());

// SAFETY: every block lies in the arena or in memory grown for it, is aligned, and is handed out
// again only after it was given back.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0.take(layout, &Linear).map_or(ptr::null_mut(), |start| start as *mut u8)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.0.give_back(block as usize, layout.size());
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if self.0.resize(block as usize, layout.size(), new_size) {
            return block;
        }
        // SAFETY: the caller of `realloc` vouches for the new size with this alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        let Some(moved) = self.0.take(wanted, &Linear) else {
            return ptr::null_mut();
        };
        // SAFETY: the old block holds `layout.size()` bytes, the new one more, and it was just
        // handed out, so the two do not overlap.
        unsafe { ptr::copy_nonoverlapping(block, moved as *mut u8, layout.size()) };
        moved as *mut u8
    }
}

/// Allocates, as the canonical ABI demands, what the host passes in. The target's C library has
/// one too, but on top of its own `malloc`.
///
/// # Safety
/// As for `realloc`: a non-zero `old_size` says that `block` is a live block of that size and `align`.
#[unsafe(export_name = "cabi_realloc")]
unsafe extern "C" fn canonical_realloc(block: *mut u8, old_size: usize, align: usize, new_size: usize) -> *mut u8 {
    if new_size == 0 {
        // An empty list or string: aligned, never read.
        return ptr::without_provenance_mut(align);
    }
    // SAFETY: the canonical ABI passes alignments that are powers of two and sizes that fit the
    // memory.
    let layout = |size| unsafe { Layout::from_size_align_unchecked(size, align) };
    let moved = if old_size == 0 {
        // SAFETY: the size is not zero.
        unsafe { ALLOCATOR.alloc(layout(new_size)) }
    } else {
        // SAFETY: the host hands back what it got here, with the size and alignment it asked for.
        unsafe { ALLOCATOR.realloc(block, layout(old_size), new_size) }
    };
    if moved.is_null() {
        wasm32::unreachable()
    }
    moved
}

// `memcpy` and its kin come from the target's C library, as they do for the standard library. None
// of it needs WASI.
#[link(name = "c")]
unsafe extern "C" {}

/// Text of a fixed capacity: a panic may be about memory, so its message takes none.
struct Message {
    text: [u8; 1024],
    length: usize,
}

impl Write for Message {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let room = self.text.len() - self.length;
        let mut kept = part.len().min(room);
        while !part.is_char_boundary(kept) {
            kept -= 1;
        }
        self.text[self.length..self.length + kept].copy_from_slice(&part.as_bytes()[..kept]);
        self.length += kept;
        if kept == part.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let mut message = Message { text: [0; 1024], length: 0 };
    // An error means that the text is cut off, which is good enough here.
    let _ = write!(message, "{info}");
    // Not by `log`: a component that hands over text needs a shim, which costs each call a third.
    for piece in message.text[..message.length].chunks(32) {
        let mut bytes = [0; 32];
        bytes[..piece.len()].copy_from_slice(piece);
        let number = |at: usize| {
            let mut part = [0; 8];
            part.copy_from_slice(&bytes[at * 8..at * 8 + 8]);
            u64::from_le_bytes(part)
        };
        host::panicked(number(0), number(1), number(2), number(3));
    }
    wasm32::unreachable()
}
