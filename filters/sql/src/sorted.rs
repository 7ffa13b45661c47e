//! Sorting what is short or sorted seldom, in little code: for catalogs here and in what builds upon this crate.

use std::collections::BinaryHeap;

/// Sorts a list. For each type of an element, a slice's own `sort` becomes some 6 KB of code, and a heap less than 1 KB.
pub fn sorted<T: Ord>(list: Vec<T>) -> Vec<T> {
    BinaryHeap::from(list).into_sorted_vec()
}

/// Sorts a list, and keeps one of those that are equal.
pub fn sorted_once<T: Ord>(list: Vec<T>) -> Vec<T> {
    let mut list = sorted(list);
    list.dedup();
    list
}
