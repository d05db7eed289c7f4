//! Constraints: what transitions reserve of shared resources, the order of tasks, numbers that no two instances share.

mod cost;
mod hostile;
mod hosts;
mod interfaces;
mod linting;
mod numbering;
mod ordering;
mod people;
mod requisition;
mod reserving;
mod schedules;
mod shares;

/// Rules over all reservations; each query answers what breaks it.
const RULES: [(&str, &str); 4] = [
    (
        "an exclusive key has one holder",
        "SELECT v.tenant_id, resource, key FROM wed.reservation v JOIN wed.request r USING (request_id) WHERE held \
         GROUP BY 1, 2, 3 HAVING bool_or(amount IS NULL) AND count(DISTINCT (flow_id, wid)) > 1",
    ),
    (
        "no more is held than there is",
        "SELECT tenant_id, resource, key FROM wed.reservation v LEFT JOIN wed.resource s USING (tenant_id, \
         resource, key) \
         WHERE held AND amount IS NOT NULL GROUP BY 1, 2, 3, capacity, minimum HAVING sum(amount) > \
         coalesce(capacity - minimum, 0)",
    ),
    (
        "a request has all or nothing",
        "SELECT request_id FROM wed.reservation GROUP BY 1 HAVING count(DISTINCT coalesce(held, false)) > 1",
    ),
    (
        // What a commit could not hand over, since a key was locked, is to be freed by the sweep.
        "only jobs that are pending, and instances that are not final, hold anything",
        "SELECT r.request_id FROM wed.request r JOIN wed.instance i USING (flow_id, wid) WHERE r.state NOT IN ('f', 'c') \
         AND (i.status = 'F' OR r.holds = 'transition' AND NOT EXISTS (SELECT FROM wed.job j WHERE j.flow_id = r.flow_id AND j.wid = \
         r.wid AND j.tgid = r.tgid))",
    ),
];

/// Panics where a rule is broken.
pub(crate) fn fine(flow: &crate::support::Flow) {
    let found = broken(&mut flow.database.owner());
    assert!(found.is_empty(), "{found:#?}");
}

/// Lists the rules that are broken, each with what breaks it.
pub(crate) fn broken(owner: &mut crate::support::Session) -> Vec<String> {
    let mut found: Vec<String> = RULES
        .iter()
        .flat_map(|(rule, query)| owner.lines(query).into_iter().map(move |line| format!("{rule}: {line}")))
        .collect();
    found.extend(crate::recovery::checker::violations(owner));
    found
}
