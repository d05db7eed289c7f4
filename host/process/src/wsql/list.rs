//! `LIST`: what a flow holds, as queries over its tables.

/// Fired transitions that are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FiredKind {
    /// Transitions that nobody performs yet.
    Pending,
    /// Transitions that a host performs.
    Ongoing,
}

/// Things that a `LIST` statement lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum List {
    /// `LIST WED-FLOWS`: the flows of the tenant.
    Flows,
    /// `LIST [ENABLED | DISABLED] WED-TRIGGERS`.
    Triggers(Option<bool>),
    /// `LIST WED-ATTRIBUTES`.
    Attributes,
    /// `LIST WED-CONDITIONS`.
    Conditions,
    /// `LIST WED-TRANSITIONS`.
    Transitions,
    /// `LIST [PENDING | ONGOING] FIRED WED-TRANSITIONS [FOR wid]`.
    Fired(Option<FiredKind>, Option<i32>),
    /// `LIST [FINAL | EXCEPTION | REGULAR] INSTANCES`: the status as `wed_instance` has it.
    Instances(Option<char>),
    /// `LIST HISTORY [FOR wid]`.
    History(Option<i32>),
}

impl List {
    /// Returns the query over the tables of a flow that answers it; none for the flows of a tenant.
    pub fn query(&self) -> Option<String> {
        Some(match self {
            List::Flows => return None,
            List::Triggers(enabled) => format!(
                "SELECT tgname AS trigger, enabled, cname AS condition, cpred AS \"when\", trname AS transition, \
                 timeout, attempts FROM wed_trig WHERE NOT cfinal{} ORDER BY tgid",
                match enabled {
                    None => "",
                    Some(true) => " AND enabled",
                    Some(false) => " AND NOT enabled",
                }
            ),
            List::Attributes => {
                "SELECT aname AS attribute, atype AS type, adv AS default, open FROM wed_attr ORDER BY aname".to_owned()
            }
            List::Conditions => "SELECT coalesce(cname, tgname) AS condition, cpred AS predicate, cfinal AS final \
                 FROM wed_trig ORDER BY cfinal, tgid"
                .to_owned(),
            List::Transitions => {
                "SELECT trname AS transition, array_agg(tgname ORDER BY tgid) AS triggers FROM wed_trig \
                 WHERE NOT cfinal AND trname IS NOT NULL GROUP BY trname ORDER BY trname"
                    .to_owned()
            }
            List::Fired(kind, wid) => {
                let kind = kind.map(|kind| match kind {
                    FiredKind::Pending => "lckid IS NULL".to_owned(),
                    FiredKind::Ongoing => "lckid IS NOT NULL".to_owned(),
                });
                let of = wid.map(|wid| format!("wid = {wid}"));
                format!(
                    "SELECT wid, trname AS transition, attempt, lckid AS host, due, waits_for \
                     FROM job_pool{} ORDER BY wid, tgid",
                    conditions([kind, of])
                )
            }
            List::Instances(status) => format!(
                "SELECT wid, status, started, changed FROM wed_instance{} ORDER BY wid DESC",
                conditions([status.map(|status| format!("status = '{status}'")), None])
            ),
            List::History(wid) => format!(
                "SELECT wid, seq, trw AS written_by, trf AS fired, status, tstmp AS at, state FROM wed_trace{} \
                 ORDER BY wid, seq",
                conditions([wid.map(|wid| format!("wid = {wid}")), None])
            ),
        })
    }
}

/// Joins conditions that are there.
fn conditions(conditions: [Option<String>; 2]) -> String {
    let there: Vec<String> = conditions.into_iter().flatten().collect();
    match there.is_empty() {
        true => String::new(),
        false => format!(" WHERE {}", there.join(" AND ")),
    }
}
