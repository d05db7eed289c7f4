//! Rules of tables about values (CHECK constraints) in words for people.

/// Wording of a rule.
#[derive(Debug)]
pub(crate) struct Rule {
    name: &'static str,
    /// Description of what is refused.
    pub(crate) message: &'static str,
    /// Advice on mending it.
    pub(crate) hint: &'static str,
}

/// Rules about values. Those about names are worded with the name ([`crate::error::about_name`]).
const RULES: &[Rule] = &[
    Rule {
        name: "schedule_cron_check",
        message: "the pattern of the schedule has more than 200 bytes",
        hint: "Say it shorter, or make several schedules.",
    },
    Rule {
        name: "schedule_missed_check",
        message: "`missed` of the schedule is none of its rules",
        hint: "Say skip, one or all.",
    },
    Rule {
        name: "schedule_overlap_check",
        message: "`overlap` of the schedule is none of its rules",
        hint: "Say start or skip.",
    },
    Rule {
        name: "schedule_state",
        message: "the values of the schedule have more than 64 KiB",
        hint: "Start with less, and let a transition fetch the rest.",
    },
    Rule {
        name: "setting_value_check",
        message: "the value of the setting has more than 64 KiB",
        hint: "Keep large values elsewhere, and only their place here.",
    },
    Rule {
        name: "secret_ciphertext_check",
        message: "the value of the secret has more than 64 KiB",
        hint: "Keep large values elsewhere, and only a key to them here.",
    },
    Rule {
        name: "webhook_attributes_check",
        message: "the webhook tells more than 100 attributes",
        hint: "Name those that the receiver needs.",
    },
    Rule {
        name: "hook_key_check",
        message: "the pointer to the key has more than 1000 bytes",
        hint: "Point at the key itself, such as /data/order.",
    },
    Rule {
        name: "hook_attributes_check",
        message: "the attributes of the hook have more than 16 KiB of pointers",
        hint: "Let the hook set fewer attributes.",
    },
    Rule {
        name: "hook_secret_check",
        message: "the secret of the hook has not 16 to 255 bytes",
        hint: "Leave it out for a random one.",
    },
    Rule {
        name: "user_role_check",
        message: "there is no such role",
        hint: "Say admin, developer, operator, participant or viewer.",
    },
];

/// Returns the wording of a rule.
pub(crate) fn rule(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name)
}

/// Returns true for the wording of a rule about a value: the name that came with it is not to blame.
pub(crate) fn is_about_a_value(message: &str) -> bool {
    RULES.iter().any(|rule| rule.message == message)
}
