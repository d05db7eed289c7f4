//! Answers that a host never gets: what it holds without its knowing is taken up soon.

use std::time::Duration;

use super::field::Field;
use super::proxy::Mode;
use crate::support::eventually;

#[harness::test]
fn jobs_of_lost_answers_are_taken_up_soon_also_after_a_slow_answer() {
    let mut field = Field::new(None);
    field.begin(1);
    // A look for such jobs takes so long that it would be made again after minutes only, to spare the database.
    field.proxy.set(Mode::Hold);
    std::thread::sleep(Duration::from_secs(5));
    field.proxy.set(Mode::Pass);
    assert!(field.recovery().is_some(), "{}", field.remains());
    for _ in 0..6 {
        field.start_instances();
        field.proxy.set(Mode::SwallowAnswers);
        std::thread::sleep(Duration::from_millis(300));
        field.proxy.cut();
        field.proxy.set(Mode::Pass);
        let live = "SELECT count(*) FROM wed.host WHERE expires_at > clock_timestamp()";
        eventually("both hosts are there", || (field.owner.number(live) >= 2).then_some(()));
    }
    assert!(field.recovery().is_some(), "{}", field.remains());
}
