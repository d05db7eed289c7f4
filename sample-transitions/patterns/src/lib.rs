//! Seven workflow patterns, each a flow of its own (`flows/`) and a module here.
//!
//! Branches that run side by side count with expressions such as `d2 = d2 + 1`: a transition is
//! handed the state that fired it, which another branch may have changed by the time it commits.

#![no_std]

pub mod and_split_join;
mod branches;
pub mod discriminator;
pub mod exclusive_choice;
pub mod multi_merge;
pub mod n_of_m;
pub mod synchronizing_merge;
pub mod thread_split_merge;

wedflow_guest::export!(
    exclusive_choice::xor_choose,
    exclusive_choice::xor_left,
    exclusive_choice::xor_right,
    exclusive_choice::xor_join,
    thread_split_merge::thread_split,
    thread_split_merge::thread_1,
    thread_split_merge::thread_2,
    thread_split_merge::thread_3,
    thread_split_merge::thread_merge,
    synchronizing_merge::or_split,
    synchronizing_merge::or_branch_1,
    synchronizing_merge::or_branch_2,
    synchronizing_merge::or_branch_3,
    synchronizing_merge::or_merge,
    multi_merge::multi_split,
    multi_merge::multi_branch_1,
    multi_merge::multi_branch_2,
    multi_merge::multi_branch_3,
    multi_merge::multi_next,
    and_split_join::and_split,
    and_split_join::and_branch_1,
    and_split_join::and_branch_2,
    and_split_join::and_join,
    discriminator::first_split,
    discriminator::first_branch_1,
    discriminator::first_branch_2,
    discriminator::first_branch_3,
    discriminator::first_next,
    n_of_m::some_split,
    n_of_m::some_branch_1,
    n_of_m::some_branch_2,
    n_of_m::some_branch_3,
    n_of_m::some_next,
);
