//! The samples' transitions, callable.

use wedflow_guest::testing::Outcome;
use wedflow_guest::testing::{self, Declaration};
use wedflow_guest::{State, Transition, Value};

/// A sample: a directory, a component, and what the component can do.
pub(crate) struct Sample {
    pub(crate) directory: &'static str,
    pub(crate) component: &'static str,
    pub(crate) transitions: Vec<Callable>,
}

/// A transition of which only the name is known at run time.
pub(crate) struct Callable {
    pub(crate) declaration: Declaration,
    /// Performs it on a state given by name, for that attempt.
    pub(crate) perform: fn(&[(String, Value)], u32) -> Outcome,
}

fn callable<T: Transition>() -> Callable {
    Callable {
        declaration: testing::describe::<T>(),
        perform: |state, attempt| {
            let reads = T::State::READS.expect("declared reads");
            let mut call = testing::call::<T>().attempt(attempt);
            for (name, value) in state {
                if reads.iter().any(|declared| declared.name == name) {
                    call = call.with(name, value.clone());
                }
            }
            call.outcome()
        },
    }
}

macro_rules! sample {
    ($directory:literal, $component:ident: $($transition:path),+ $(,)?) => {
        Sample {
            directory: $directory,
            component: stringify!($component),
            transitions: vec![$(callable::<$transition>()),+],
        }
    };
}

pub(crate) fn samples() -> Vec<Sample> {
    use patterns::{
        and_split_join, discriminator, exclusive_choice, multi_merge, n_of_m, synchronizing_merge, thread_split_merge,
    };
    vec![
        sample!("paper", paper: paper::set_a2, paper::set_a3, paper::finish),
        sample!("counters", counters: counters::count_a1, counters::count_a2, counters::count_a3),
        sample!("random-walk", random_walk: random_walk::step),
        sample!("patterns", patterns:
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
        ),
        sample!("travel", travel:
            travel::validate,
            travel::book_hotel,
            travel::book_ticket,
            travel::cancel_hotel,
            travel::cancel_ticket,
            travel::close,
            travel::give_up,
        ),
        sample!("book-sale", book_sale:
            book_sale::check_customer,
            book_sale::check_stock,
            book_sale::price_order,
            book_sale::authorise_payment,
            book_sale::order_copies,
            book_sale::receive_copies,
            book_sale::pack_parcel,
            book_sale::issue_invoice,
            book_sale::ship_parcel,
            book_sale::close_order,
            book_sale::cancel_order,
        ),
    ]
}
