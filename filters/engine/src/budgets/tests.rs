use proptest::prelude::*;

use super::*;

const START_MS: u64 = 1_700_000_000_000;

fn spend(budgets: &mut Budgets, subject: &str, (rows, per_seconds): (u32, u32), now_ms: u64) -> Spending {
    budgets.spend(&subject.into(), &"l".into(), Allowance { rows, per_seconds }, 1, now_ms)
}

fn is_spent(spending: Spending) -> bool {
    matches!(spending, Spending::Spent { .. })
}

#[test]
fn time_to_come_again_is_the_time_at_which_a_row_is_revealed() {
    for offset in [0, 1, 999, 4_000, 59_999] {
        let mut budgets = Budgets::default();
        assert_eq!(spend(&mut budgets, "a", (2, 60), START_MS + offset), Spending::Revealed);
        assert_eq!(spend(&mut budgets, "a", (2, 60), START_MS + offset + 30_000), Spending::Revealed);
        let now_ms = START_MS + offset + 31_000;
        let Spending::Spent { again_seconds, first: true } = spend(&mut budgets, "a", (2, 60), now_ms) else {
            panic!("the budget is spent");
        };
        assert!((29..=33).contains(&again_seconds), "{again_seconds}");
        let then = now_ms + again_seconds * 1000;
        assert!(is_spent(spend(&mut budgets, "a", (2, 60), then - 1_000)));
        assert_eq!(spend(&mut budgets, "a", (2, 60), then), Spending::Revealed);
    }
}

#[test]
fn row_that_costs_more_than_is_left_spends_nothing() {
    let mut budgets = Budgets::default();
    let allowance = Allowance { rows: 3, per_seconds: 60 };
    let mut costs = |rows| budgets.spend(&"a".into(), &"l".into(), allowance, rows, START_MS);
    assert_eq!(costs(2), Spending::Revealed);
    assert!(is_spent(costs(2)));
    assert_eq!(costs(1), Spending::Revealed);
    assert!(is_spent(costs(u32::MAX)));
}

#[test]
fn another_stretch_of_time_does_not_give_a_budget_back() {
    let mut budgets = Budgets::default();
    for _ in 0..5 {
        assert_eq!(spend(&mut budgets, "a", (5, 3600), START_MS), Spending::Revealed);
    }
    // Rows count as of now in a stretch that is new, and in every stretch that is known.
    assert!(is_spent(spend(&mut budgets, "a", (5, 60), START_MS)));
    let later = START_MS + 70_000;
    assert_eq!(spend(&mut budgets, "a", (5, 60), later), Spending::Revealed);
    assert!(is_spent(spend(&mut budgets, "a", (6, 3600), later)));
    assert_eq!(spend(&mut budgets, "a", (7, 3600), later), Spending::Revealed);
    assert!(is_spent(spend(&mut budgets, "a", (2, 60), later)));
}

#[test]
fn more_stretches_than_are_kept_reveal_nothing() {
    let mut budgets = Budgets::default();
    for per_seconds in 1..=8 {
        assert_eq!(spend(&mut budgets, "a", (100, per_seconds), START_MS), Spending::Revealed);
    }
    assert_eq!(spend(&mut budgets, "a", (100, 9), START_MS), Spending::NoPlace);
    assert_eq!(spend(&mut budgets, "a", (100, 8), START_MS), Spending::Revealed);
}

#[test]
fn clock_that_is_set_back_gives_nothing_back() {
    let mut budgets = Budgets::default();
    assert_eq!(spend(&mut budgets, "a", (1, 60), START_MS), Spending::Revealed);
    for now_ms in [START_MS - 1, START_MS - 3_600_000, 0] {
        assert!(is_spent(spend(&mut budgets, "a", (1, 60), now_ms)));
    }
}

#[test]
fn full_table_gives_up_nobodys_spent_budget_and_reveals_nothing_to_others() {
    let mut budgets = Budgets::default();
    for number in 0..MAX_WINDOWS {
        assert_eq!(spend(&mut budgets, &number.to_string(), (1, 60), START_MS), Spending::Revealed);
    }
    assert_eq!(spend(&mut budgets, "more", (1, 60), START_MS), Spending::NoPlace);
    for number in ["0", "65535"] {
        assert!(is_spent(spend(&mut budgets, number, (1, 60), START_MS)), "{number}");
    }
    let later = START_MS + 70_000;
    assert_eq!(spend(&mut budgets, "more", (1, 60), later), Spending::Revealed);
    assert_eq!(budgets.windows, 1);
}

#[test]
fn asking_spends_nothing() {
    let mut budgets = Budgets::default();
    let (subject, label) = ("a".into(), "l".into());
    let allowance = Allowance { rows: 1, per_seconds: 60 };
    for _ in 0..3 {
        assert_eq!(budgets.would_spend(&subject, &label, allowance, START_MS), Spending::Revealed);
    }
    assert_eq!(spend(&mut budgets, "a", (1, 60), START_MS), Spending::Revealed);
    let spent = budgets.would_spend(&subject, &label, allowance, START_MS);
    assert!(matches!(spent, Spending::Spent { first: true, .. }));
}

proptest! {
    #[test]
    fn no_stretch_ever_has_more_rows_than_its_budget(
        rows in 1_u32..20,
        per_seconds in prop_oneof![1_u32..5, 10_u32..200],
        steps in proptest::collection::vec((0_u64..1 << 15, 1_u32..4, 0_usize..3), 1..200),
    ) {
        let mut budgets = Budgets::default();
        let mut now_ms = START_MS;
        let mut revealed: Vec<(u64, u32)> = Vec::new();
        // The same rows under stretches of other lengths, which count in all of them.
        let lengths = [per_seconds, per_seconds * 3, per_seconds.div_ceil(2)];
        for per_seconds in lengths {
            budgets.spend(&"a".into(), &"l".into(), Allowance { rows, per_seconds }, 0, now_ms);
        }
        for (pause, cost, length) in steps {
            now_ms += pause / u64::from(cost);
            let allowance = Allowance { rows, per_seconds: lengths[length] };
            if budgets.spend(&"a".into(), &"l".into(), allowance, cost, now_ms) == Spending::Revealed {
                revealed.push((now_ms, cost));
                let from = now_ms - u64::from(lengths[length]) * 1000;
                let within: u32 = revealed.iter().filter(|(at, _)| *at >= from).map(|(_, cost)| cost).sum();
                prop_assert!(within <= rows, "{within} rows of {rows}");
            }
        }
    }

    #[test]
    fn budget_is_whole_again_a_sixteenth_past_its_time(
        rows in 1_u32..50, per_seconds in 1_u32..86_400, offset in 0_u64..100_000_000,
    ) {
        let mut budgets = Budgets::default();
        let whole = |budgets: &mut Budgets, now_ms| {
            (0..rows).all(|_| spend(budgets, "a", (rows, per_seconds), now_ms) == Spending::Revealed)
        };
        let start = START_MS + offset;
        prop_assert!(whole(&mut budgets, start));
        prop_assert!(is_spent(spend(&mut budgets, "a", (rows, per_seconds), start)));
        let per_ms = u64::from(per_seconds) * 1000;
        prop_assert!(is_spent(spend(&mut budgets, "a", (rows, per_seconds), start + per_ms - 1)));
        // Slots are whole milliseconds, so that seventeen of them are up to 16 ms longer than the time and a sixteenth.
        prop_assert!(whole(&mut budgets, start + 17 * per_ms.div_ceil(16)));
    }
}
