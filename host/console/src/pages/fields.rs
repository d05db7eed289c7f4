//! Fields of a work item's form: made of its JSON Schema in the declared order, and read back from what was typed.

use std::collections::HashMap;

use maud::{Markup, html};
use serde_json::{Map, Number, Value};

use crate::words::Language;

/// Length of a text from which it has several lines.
const LONG_TEXT: u64 = 120;

/// Kind of a field's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    Date,
    Moment,
    Document,
}

impl Kind {
    fn of(about: &Value) -> Self {
        let word = match &about["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).find(|word| *word != "null"),
            one => one.as_str(),
        };
        match (word, about["format"].as_str()) {
            (Some("integer"), _) => Kind::Integer,
            (Some("number"), _) => Kind::Number,
            (Some("boolean"), _) => Kind::Boolean,
            (Some("string"), Some("date")) => Kind::Date,
            (Some("string"), Some("date-time")) => Kind::Moment,
            (Some("string"), _) => Kind::Text,
            (None, _) if about["enum"].is_array() => Kind::Text,
            _ => Kind::Document,
        }
    }

    /// Word by which the script knows it.
    fn word(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
            Kind::Date => "date",
            Kind::Moment => "moment",
            Kind::Document => "document",
        }
    }
}

/// A field of a form.
pub(crate) struct Field<'a> {
    name: &'a str,
    about: &'a Value,
    before: &'a Value,
    kind: Kind,
    required: bool,
}

/// A value to choose.
struct Choice {
    text: String,
    word: String,
    value: Value,
}

/// Texts that were typed, and what is wrong with them, by attribute.
#[derive(Default)]
pub(crate) struct Typed {
    pub(crate) texts: HashMap<String, String>,
    pub(crate) wrong: HashMap<String, String>,
}

/// Lists the fields of an item: as the task declares its outputs, then those of the schema alone.
pub(crate) fn fields(item: &Value) -> Vec<Field<'_>> {
    let schema = &item["form"];
    let is_required = |name: &str| {
        let names = schema["required"].as_array();
        names.is_some_and(|names| names.iter().any(|one| one == name))
    };
    let place = |name: &str| {
        let outputs = item["outputs"].as_array();
        outputs.and_then(|outputs| outputs.iter().position(|output| output == name))
    };
    let properties = schema["properties"].as_object();
    let mut fields: Vec<Field<'_>> = properties
        .into_iter()
        .flatten()
        .map(|(name, about)| Field {
            name,
            about,
            before: &item["data"][name.as_str()],
            kind: Kind::of(about),
            required: is_required(name),
        })
        .collect();
    fields.sort_by_key(|field| place(field.name).unwrap_or(usize::MAX));
    fields
}

/// Shows fields; those of one `group` that follow each other stand together.
pub(crate) fn shown(language: Language, fields: &[Field<'_>], typed: &Typed) -> Markup {
    let groups = fields.chunk_by(|one, next| one.group() == next.group());
    html! {
        @for group in groups {
            @match group.first().and_then(Field::group) {
                Some(name) => {
                    fieldset { legend { (name) } @for field in group { (field.shown(language, typed)) } }
                }
                None => { @for field in group { (field.shown(language, typed)) } }
            }
        }
    }
}

/// Reads the values that were typed: those that differ from the item's, and those that are required. Records each
/// error at its field.
pub(crate) fn values(language: Language, fields: &[Field<'_>], typed: &mut Typed) -> Map<String, Value> {
    let mut values = Map::new();
    for field in fields {
        let text = typed.texts.get(field.name).map_or("", String::as_str);
        match field.value(text) {
            Some(Value::Null) if field.required => {
                let why = language.say("It is required.").to_owned();
                typed.wrong.insert(field.name.to_owned(), why);
            }
            Some(value) if value != *field.before || field.required => {
                values.insert(field.name.to_owned(), value);
            }
            Some(_) => {}
            None => {
                let why = field.expected(language).to_owned();
                typed.wrong.insert(field.name.to_owned(), why);
            }
        }
    }
    values
}

/// The text of a value, as a person writes it.
pub(crate) fn text_of(language: Language, value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) if language == Language::Portuguese => number.to_string().replace('.', ","),
        other => other.to_string(),
    }
}

impl Field<'_> {
    fn group(&self) -> Option<&str> {
        self.about["group"].as_str()
    }

    fn text(&self, language: Language) -> String {
        if self.about["enum"].is_array() {
            return text_of(Language::English, self.before);
        }
        let text = match self.kind {
            Kind::Document if !self.before.is_null() => self.before.to_string(),
            _ => text_of(language, self.before),
        };
        match self.kind {
            Kind::Moment => text.replace(' ', "T").chars().take(16).collect(),
            _ => text,
        }
    }

    fn value(&self, typed: &str) -> Option<Value> {
        let text = typed.trim();
        if text.is_empty() {
            return Some(match self.before {
                Value::String(before) if before.is_empty() => Value::from(""),
                _ => Value::Null,
            });
        }
        if let Some(choices) = self.about["enum"].as_array() {
            let mut choices = choices.iter();
            return choices.find(|choice| text_of(Language::English, choice) == text).cloned();
        }
        match self.kind {
            Kind::Text => Some(match self.before.as_str() {
                // A browser sends lines with both ends.
                Some(before) if before == typed.replace("\r\n", "\n") => self.before.clone(),
                _ => Value::from(typed.replace("\r\n", "\n")),
            }),
            Kind::Integer => text.parse::<i64>().ok().map(Value::from),
            Kind::Number => {
                let number: Option<Number> = serde_json::from_str(&with_point(text)).ok();
                number.map(Value::Number)
            }
            Kind::Boolean => text.parse::<bool>().ok().map(Value::from),
            Kind::Date => Some(Value::from(text)),
            Kind::Moment => Some(match self.text(Language::English) == text {
                true => self.before.clone(),
                false => Value::from(format!("{text}Z")),
            }),
            Kind::Document => serde_json::from_str(text).ok(),
        }
    }

    fn expected(&self, language: Language) -> &'static str {
        match self.kind {
            Kind::Integer => language.say("A whole number is expected."),
            Kind::Number => language.say("A number is expected."),
            Kind::Text => language.say("One of the choices is expected."),
            _ => language.say("JSON is expected."),
        }
    }

    fn shown(&self, language: Language, typed: &Typed) -> Markup {
        let label = self.about["title"].as_str().unwrap_or(self.name);
        let id = format!("field-{}", self.name);
        let wrong = typed.wrong.get(self.name);
        let help = self.help(language);
        let described = [help.as_ref().map(|_| format!("{id}-help")), Some(format!("{id}-wrong"))];
        let described: Vec<String> = described.into_iter().flatten().collect();
        let described = described.join(" ");
        html! {
            div class="field" data-field=(self.name) data-kind=(self.kind.word())
                data-before=(self.before) data-required[self.required] data-expected=(self.expected(language)) {
                label for=(id) {
                    (label) @if self.required { span class="soft" { " · " (language.say("required")) } }
                }
                (self.input(language, typed, (id.as_str(), described.as_str())))
                @if let Some(help) = help { p class="soft help" id=(format!("{id}-help")) { (help) } }
                p class="wrong" id=(format!("{id}-wrong")) role="alert" { @if let Some(wrong) = wrong { (wrong) } }
            }
        }
    }

    fn help(&self, language: Language) -> Option<String> {
        let own = self.about["description"].as_str().map(str::to_owned);
        let zone = (self.kind == Kind::Moment).then(|| language.say("In UTC.").to_owned());
        let bound = |key: &str, before: &str| {
            let value = &self.about[key];
            (value.is_number()).then(|| format!("{before} {}", text_of(language, value)))
        };
        let bounds = match (bound("minimum", language.say("from")), bound("maximum", language.say("to"))) {
            (None, None) => None,
            (from, to) => Some([from, to].into_iter().flatten().collect::<Vec<_>>().join(" ")),
        };
        let parts: Vec<String> = [own, bounds, zone].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" · "))
    }

    fn input(&self, language: Language, typed: &Typed, (id, described): (&str, &str)) -> Markup {
        let name = format!("f.{}", self.name);
        let own = self.text(language);
        let text = typed.texts.get(self.name).unwrap_or(&own);
        let invalid = typed.wrong.contains_key(self.name).then_some("true");
        let required = self.required.then_some("true");
        let is_long =
            self.about["maxLength"].as_u64() >= Some(LONG_TEXT) || text.contains('\n') || self.kind == Kind::Document;
        let choices = self.choices(language);
        let (kind, mode) = match self.kind {
            Kind::Integer => ("text", Some("numeric")),
            Kind::Number => ("text", Some("decimal")),
            Kind::Date => ("date", None),
            Kind::Moment => ("datetime-local", None),
            _ => ("text", None),
        };
        html! {
            @if let Some(choices) = choices {
                select id=(id) name=(name) aria-describedby=(described) aria-invalid=[invalid]
                    aria-required=[required] {
                    option value="" selected[text.is_empty()] { "–" }
                    @for one in &choices {
                        option value=(one.text) data-value=(one.value) selected[one.text == *text] { (one.word) }
                    }
                }
            } @else if is_long {
                textarea id=(id) name=(name) rows="4" aria-describedby=(described) aria-invalid=[invalid]
                    aria-required=[required] { "\n" (text) }
            } @else {
                input id=(id) name=(name) type=(kind) inputmode=[mode] value=(text) autocomplete="off"
                    aria-describedby=(described) aria-invalid=[invalid] aria-required=[required]
                    maxlength=[self.about["maxLength"].as_u64()];
            }
        }
    }

    /// Values to choose from.
    fn choices(&self, language: Language) -> Option<Vec<Choice>> {
        let listed = self.about["enum"].as_array();
        let listed = listed.map(|choices| {
            let choices = choices.iter().filter(|choice| !choice.is_null());
            choices
                .map(|choice| Choice {
                    text: text_of(Language::English, choice),
                    word: text_of(language, choice),
                    value: choice.clone(),
                })
                .collect()
        });
        let word = |value: bool, word: &str| Choice {
            text: value.to_string(),
            word: word.to_owned(),
            value: Value::from(value),
        };
        let yes_or_no = || vec![word(true, language.say("yes")), word(false, language.say("no"))];
        listed.or_else(|| (self.kind == Kind::Boolean).then(yes_or_no))
    }
}

/// A number with a point where it was typed with a comma.
fn with_point(text: &str) -> String {
    if text.contains('.') || text.matches(',').count() != 1 {
        return text.to_owned();
    }
    text.replace(',', ".")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn item() -> Value {
        json!({
            "outputs": ["when", "cost", "paid", "note"],
            "data": { "note": "a", "cost": 1.5 },
            "form": { "required": ["cost"], "properties": {
                "cost": { "type": ["number", "null"] }, "note": { "type": "string" },
                "paid": { "enum": ["cash", "card"] }, "when": { "type": "string", "format": "date" },
            } },
        })
    }

    fn typed(texts: &[(&str, &str)]) -> Typed {
        let texts = texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        Typed { texts, ..Typed::default() }
    }

    #[test]
    fn fields_stand_in_the_order_of_the_outputs() {
        let item = item();
        let names: Vec<&str> = fields(&item).iter().map(|field| field.name).collect();
        assert_eq!(names, ["when", "cost", "paid", "note"]);
    }

    #[test]
    fn comma_is_a_point_and_what_did_not_change_is_left_out() {
        let item = item();
        let mut typed = typed(&[("cost", "12,50"), ("note", "a"), ("when", "2026-12-24")]);
        let values = values(Language::Portuguese, &fields(&item), &mut typed);
        assert_eq!(Value::from(values).to_string(), r#"{"when":"2026-12-24","cost":12.50}"#);
        assert!(typed.wrong.is_empty());
    }

    #[test]
    fn what_is_wrong_is_said_of_each_field() {
        let item = item();
        let mut none = typed(&[("note", "a")]);
        values(Language::English, &fields(&item), &mut none);
        assert_eq!(none.wrong.get("cost").map(String::as_str), Some("It is required."));
        let mut words = typed(&[("cost", "much")]);
        values(Language::English, &fields(&item), &mut words);
        assert_eq!(words.wrong.get("cost").map(String::as_str), Some("A number is expected."));
    }
}
