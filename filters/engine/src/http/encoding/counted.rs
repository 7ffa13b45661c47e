//! An allocator for the brotli decoder that counts what the decoder has allocated.

use std::cell::Cell;
use std::rc::Rc;

use brotli_decompressor::{Allocator, SliceWrapper, SliceWrapperMut};

/// Counts the bytes of all memory that it and its clones have given and that is not dropped.
#[derive(Clone, Default)]
pub(super) struct Counter(Rc<Cell<usize>>);

impl Counter {
    /// Bytes that are allocated now.
    pub(super) fn bytes(&self) -> usize {
        self.0.get()
    }
}

/// Memory that is counted until it is dropped.
pub(super) struct CountedBox<T> {
    memory: Box<[T]>,
    counter: Counter,
}

impl<T> CountedBox<T> {
    fn bytes(&self) -> usize {
        size_of_val(&*self.memory)
    }
}

impl<T> Default for CountedBox<T> {
    fn default() -> Self {
        Self { memory: Box::default(), counter: Counter::default() }
    }
}

impl<T> Drop for CountedBox<T> {
    fn drop(&mut self) {
        self.counter.0.set(self.counter.bytes().saturating_sub(self.bytes()));
    }
}

impl<T> SliceWrapper<T> for CountedBox<T> {
    fn slice(&self) -> &[T] {
        &self.memory
    }
}

impl<T> SliceWrapperMut<T> for CountedBox<T> {
    fn slice_mut(&mut self) -> &mut [T] {
        &mut self.memory
    }
}

impl<T: Clone + Default> Allocator<T> for Counter {
    type AllocatedMemory = CountedBox<T>;

    fn alloc_cell(&mut self, length: usize) -> CountedBox<T> {
        let counted =
            CountedBox { memory: vec![T::default(); length].into_boxed_slice(), counter: self.clone() };
        self.0.set(self.bytes().saturating_add(counted.bytes()));
        counted
    }

    fn free_cell(&mut self, memory: CountedBox<T>) {
        drop(memory);
    }
}
