//! Handing out memory in order: first an arena that is part of the initial memory, then what the
//! memory grows by.

use core::alloc::Layout;
use core::cell::Cell;

pub(crate) const PAGE_BYTES: usize = 64 << 10;

/// A linear memory, as far as an allocator deals with it.
pub(crate) trait Memory {
    /// Address and size of the arena.
    fn arena(&self) -> (usize, usize);
    /// Size of the whole memory in pages.
    fn pages(&self) -> usize;
    /// Grows it by `pages`; returns true if that was granted.
    fn grow(&self, pages: usize) -> bool;
}

/// Hands out memory in order, and takes back only what it handed out last.
pub(crate) struct Bump {
    /// Address of the next free byte.
    next: Cell<usize>,
    /// Address after the last byte that may be handed out; 0 before the first allocation.
    end: Cell<usize>,
}

impl Bump {
    pub(crate) const fn new() -> Self {
        Bump { next: Cell::new(0), end: Cell::new(0) }
    }

    /// The address of a new block, or nothing when there is no memory left.
    pub(crate) fn take(&self, layout: Layout, memory: &impl Memory) -> Option<usize> {
        if self.end.get() == 0 {
            let (start, bytes) = memory.arena();
            self.next.set(start);
            self.end.set(start + bytes);
        }
        let mut start = self.next.get().checked_next_multiple_of(layout.align())?;
        if start.checked_add(layout.size())? > self.end.get() {
            start = self.grow(start, layout, memory)?;
        }
        self.next.set(start + layout.size());
        Some(start)
    }

    /// Makes room for a block that would start at `from`, and says where it may start: at `from`
    /// itself, or in the grown memory where that does not follow.
    #[cold]
    fn grow(&self, from: usize, layout: Layout, memory: &impl Memory) -> Option<usize> {
        let memory_end = memory.pages().checked_mul(PAGE_BYTES)?;
        let start = if self.end.get() == memory_end {
            from
        } else {
            // The arena is used up, and it does not end where the memory does.
            memory_end.checked_next_multiple_of(layout.align())?
        };
        let missing = start.checked_add(layout.size())?.checked_sub(memory_end)?;
        let pages = missing.div_ceil(PAGE_BYTES);
        if !memory.grow(pages) {
            return None;
        }
        self.end.set(memory_end.saturating_add(pages.saturating_mul(PAGE_BYTES)));
        Some(start)
    }

    /// Takes a block back if it is the last one; keeps it else.
    pub(crate) fn give_back(&self, start: usize, size: usize) {
        if start + size == self.next.get() {
            self.next.set(start);
        }
    }

    /// Changes a block's size where it is, and says whether that was possible.
    pub(crate) fn resize(&self, start: usize, size: usize, new_size: usize) -> bool {
        // Only the last block can grow, so a growing `String` copies nothing.
        if start + size == self.next.get() && new_size <= self.end.get() - start {
            self.next.set(start + new_size);
            return true;
        }
        new_size <= size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    struct Fake {
        arena: (usize, usize),
        pages: Cell<usize>,
        limit: usize,
    }

    impl Memory for Fake {
        fn arena(&self) -> (usize, usize) {
            self.arena
        }

        fn pages(&self) -> usize {
            self.pages.get()
        }

        fn grow(&self, pages: usize) -> bool {
            let granted = self.pages.get() + pages <= self.limit;
            if granted {
                self.pages.set(self.pages.get() + pages);
            }
            granted
        }
    }

    /// Two pages, an arena of 1000 bytes that ends well before them.
    fn memory(limit: usize) -> Fake {
        Fake { arena: (70_000, 1_000), pages: Cell::new(2), limit }
    }

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).expect("layout")
    }

    #[test]
    fn the_arena_comes_first_and_growth_after_it() {
        let (memory, bump) = (memory(100), Bump::new());
        assert_eq!(bump.take(layout(3, 1), &memory), Some(70_000));
        assert_eq!(bump.take(layout(8, 8), &memory), Some(70_008));
        assert_eq!(bump.take(layout(984, 8), &memory), Some(70_016));
        assert_eq!(memory.pages(), 2, "the arena is full and nothing grew");
        assert_eq!(bump.take(layout(10, 1), &memory), Some(2 * PAGE_BYTES));
        assert_eq!(memory.pages(), 3);
        // What follows continues in the grown page and into the next ones.
        let big = bump.take(layout(3 * PAGE_BYTES, 16), &memory);
        assert_eq!(big, Some(2 * PAGE_BYTES + 16));
        assert_eq!(memory.pages(), 6);
    }

    #[test]
    fn the_last_block_moves_its_end() {
        let (memory, bump) = (memory(2), Bump::new());
        let first = bump.take(layout(10, 1), &memory).expect("memory");
        assert!(bump.resize(first, 10, 500));
        assert!(!bump.resize(first, 500, 1_001), "beyond the arena");
        let second = bump.take(layout(10, 1), &memory).expect("memory");
        assert_eq!(second, first + 500);
        assert!(!bump.resize(first, 500, 501), "not the last any more");
        assert!(bump.resize(first, 500, 20), "shrinking is always possible");
        bump.give_back(second, 10);
        assert_eq!(bump.take(layout(10, 1), &memory), Some(second));
    }

    #[test]
    fn a_refusal_changes_nothing() {
        let (memory, bump) = (memory(3), Bump::new());
        assert_eq!(bump.take(layout(2 * PAGE_BYTES, 1), &memory), None);
        assert_eq!(bump.take(layout(isize::MAX as usize, 1), &memory), None);
        assert_eq!(bump.take(layout(1_000, 1), &memory), Some(70_000));
        assert_eq!(memory.pages(), 2);
    }

    #[test]
    fn live_blocks_are_aligned_and_never_overlap() {
        let (memory, bump) = (memory(10_000), Bump::new());
        let mut live: Vec<(usize, usize)> = Vec::new();
        let mut seed = 1_u64;
        let mut random = |bound: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % bound
        };
        for _ in 0..5_000 {
            match random(3) {
                0 if !live.is_empty() => {
                    let at = random(live.len());
                    let (start, size) = live.swap_remove(at);
                    bump.give_back(start, size);
                }
                1 if !live.is_empty() => {
                    let at = random(live.len());
                    let new_size = 1 + random(3_000);
                    let (start, size) = live[at];
                    if bump.resize(start, size, new_size) {
                        live[at].1 = new_size;
                    }
                }
                _ => {
                    let (size, align) = (1 + random(5_000), 1 << random(9));
                    let start = bump.take(layout(size, align), &memory).expect("memory");
                    assert_eq!(start % align, 0);
                    assert!(start + size <= memory.pages() * PAGE_BYTES);
                    live.push((start, size));
                }
            }
            let mut sorted = live.clone();
            sorted.sort_unstable();
            for pair in sorted.windows(2) {
                assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{pair:?}");
            }
        }
    }
}
