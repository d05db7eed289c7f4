//! A form made of a JSON Schema: one line for each attribute, what is typed, and what is wrong with it.

use serde_json::{Map, Value as Json};

/// A form that a person fills in.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    /// The schema.
    schema: Json,
    /// The fields, as the task declares its outputs.
    pub(crate) fields: Vec<Field>,
    /// The field that has the cursor.
    pub(crate) at: usize,
    /// The state of the instance that the form shows.
    pub(crate) base: Option<i64>,
    /// True if it corrects a result that was kept or refused.
    pub(crate) corrects: bool,
}

/// A field.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    /// The attribute.
    pub(crate) name: String,
    /// The label for people: the schema's title, else the name.
    pub(crate) label: String,
    /// The text as typed.
    pub(crate) text: String,
    /// Characters before the cursor.
    pub(crate) cursor: usize,
    /// Values that the field takes, for people.
    pub(crate) takes: String,
    /// Error in the text, if there is one.
    pub(crate) wrong: Option<String>,
    kind: Kind,
    /// The value before; it is sent only when it changed.
    before: Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    Document,
}

impl Form {
    /// Makes the form of an item, with the values that there are. Its fields stand as the task declares its outputs,
    /// then those of the schema alone.
    pub(crate) fn new(document: &Json) -> Self {
        let (schema, values) = (&document["form"], &document["data"]);
        let place = |name: &str| {
            let outputs = document["outputs"].as_array();
            outputs.and_then(|outputs| outputs.iter().position(|output| output == name))
        };
        let properties = schema["properties"].as_object();
        let mut fields: Vec<Field> = properties
            .into_iter()
            .flatten()
            .map(|(name, about)| Field::new(name, about, &values[name.as_str()]))
            .collect();
        fields.sort_by_key(|field| place(&field.name).unwrap_or(usize::MAX));
        Form { schema: schema.clone(), fields, at: 0, base: document["base"].as_i64(), corrects: false }
    }

    /// The texts that differ from the values that there are: what a draft keeps.
    pub(crate) fn texts(&self) -> Map<String, Json> {
        let begun = self.fields.iter().filter(|field| field.text != text_of(&field.before));
        begun.map(|field| (field.name.clone(), Json::from(field.text.as_str()))).collect()
    }

    /// Fills in the texts of a draft.
    pub(crate) fn resume(&mut self, texts: &Json) {
        for field in &mut self.fields {
            if let Some(text) = texts[field.name.as_str()].as_str() {
                field.write(text.to_owned());
            }
        }
    }

    /// Fills in values that a component answered.
    pub(crate) fn fill(&mut self, values: &Map<String, Json>) {
        for field in &mut self.fields {
            if let Some(value) = values.get(&field.name) {
                field.write(text_of(value));
            }
        }
    }

    /// The values that differ from those before, and those that the form requires; marks the fields that are wrong.
    pub(crate) fn values(&mut self) -> Option<Map<String, Json>> {
        let mut values = Map::new();
        let mut whole = Map::new();
        for field in &mut self.fields {
            match field.value() {
                Ok(value) => {
                    field.wrong = None;
                    if value != field.before || required(&self.schema, &field.name) && !value.is_null() {
                        values.insert(field.name.clone(), value.clone());
                    }
                    if !value.is_null() {
                        whole.insert(field.name.clone(), value);
                    }
                }
                Err(why) => field.wrong = Some(why),
            }
        }
        for field in &mut self.fields {
            let about = &self.schema["properties"][field.name.as_str()];
            let value = whole.get(&field.name);
            if field.wrong.is_none() {
                field.wrong = match value {
                    Some(value) => complaint(about, value),
                    None => required(&self.schema, &field.name).then(|| "it is required".to_owned()),
                };
            }
        }
        let wrong = self.fields.iter().position(|field| field.wrong.is_some());
        self.at = wrong.unwrap_or(self.at);
        wrong.is_none().then_some(values)
    }

    /// The field with the cursor.
    pub(crate) fn field(&mut self) -> Option<&mut Field> {
        self.fields.get_mut(self.at)
    }

    /// Goes to the next field, or the one before.
    pub(crate) fn step(&mut self, forward: bool) {
        let count = self.fields.len().max(1);
        self.at = (self.at + if forward { 1 } else { count - 1 }) % count;
    }
}

impl Field {
    fn new(name: &str, about: &Json, value: &Json) -> Self {
        let kind = kind_of(about);
        let word = match kind {
            Kind::Text => "text",
            Kind::Integer => "a whole number",
            Kind::Number => "a number",
            Kind::Boolean => "true or false",
            Kind::Document => "JSON",
        };
        let mut takes = match about["format"].as_str() {
            Some("date") => "a date, 2026-12-24".to_owned(),
            Some("date-time") => "a time, 2026-12-24T10:00:00Z".to_owned(),
            _ => word.to_owned(),
        };
        if let Some(choices) = about["enum"].as_array() {
            let choices: Vec<String> = choices.iter().map(text_of).collect();
            takes = format!("one of {}", choices.join(", "));
        }
        Field {
            name: name.to_owned(),
            label: about["title"].as_str().unwrap_or(name).to_owned(),
            cursor: text_of(value).chars().count(),
            text: text_of(value),
            takes,
            wrong: None,
            kind,
            before: value.clone(),
        }
    }

    /// Replaces the text.
    pub(crate) fn write(&mut self, text: String) {
        self.cursor = text.chars().count();
        self.text = text;
        self.wrong = None;
    }

    /// The bytes before the n-th character.
    fn byte(&self, at: usize) -> usize {
        self.text.char_indices().nth(at).map_or(self.text.len(), |(byte, _)| byte)
    }

    /// The text before the cursor, and behind it.
    pub(crate) fn split(&self) -> (&str, &str) {
        self.text.split_at(self.byte(self.cursor))
    }

    /// Types a character at the cursor.
    pub(crate) fn typed(&mut self, character: char) {
        self.text.insert(self.byte(self.cursor), character);
        self.cursor += 1;
        self.wrong = None;
    }

    /// Takes the character before the cursor away, or the one behind it.
    pub(crate) fn erase(&mut self, before: bool) {
        let at = if before { self.cursor.checked_sub(1) } else { Some(self.cursor) };
        let length = self.text.chars().count();
        if let Some(at) = at.filter(|at| *at < length) {
            self.text.remove(self.byte(at));
            self.cursor = at;
            self.wrong = None;
        }
    }

    /// Puts the cursor before the n-th character, or behind the last one.
    pub(crate) fn go_to(&mut self, at: usize) {
        self.cursor = at.min(self.text.chars().count());
    }

    fn value(&self) -> Result<Json, String> {
        let text = self.text.trim();
        if text.is_empty() {
            return Ok(if self.before == "" { Json::from("") } else { Json::Null });
        }
        let wrong = || format!("{} is expected", self.takes);
        match self.kind {
            Kind::Text => Ok(Json::from(self.text.as_str())),
            Kind::Integer => text.parse::<i64>().map(Json::from).map_err(|_| wrong()),
            // Kept as text, so that no digit is lost.
            Kind::Number => {
                serde_json::from_str::<serde_json::Number>(&with_point(text)).map(Json::Number).map_err(|_| wrong())
            }
            Kind::Boolean => match text {
                "true" | "yes" | "y" => Ok(Json::from(true)),
                "false" | "no" | "n" => Ok(Json::from(false)),
                _ => Err(wrong()),
            },
            Kind::Document => serde_json::from_str(text).map_err(|_| wrong()),
        }
    }
}

/// A number with a point where it was typed with a comma.
fn with_point(text: &str) -> String {
    if text.contains('.') || text.matches(',').count() != 1 {
        return text.to_owned();
    }
    text.replace(',', ".")
}

fn kind_of(about: &Json) -> Kind {
    let word = match &about["type"] {
        Json::Array(types) => types.iter().filter_map(Json::as_str).find(|word| *word != "null"),
        one => one.as_str(),
    };
    match word {
        Some("integer") => Kind::Integer,
        Some("number") => Kind::Number,
        Some("boolean") => Kind::Boolean,
        Some("string") => Kind::Text,
        None if about["enum"].is_array() => Kind::Text,
        _ => Kind::Document,
    }
}

fn text_of(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn required(schema: &Json, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name))
}

/// Finds the first field of a form that values do not fill as it takes them, and what is wrong with it. A datum may be
/// called by the name that its process gives it. A form that the server made of the attributes' types names its
/// `$schema`: of that only what no attribute of the type can hold is refused.
pub(crate) fn complaint_of(schema: &Json, values: &Map<String, Json>) -> Option<(String, String)> {
    if !schema["$schema"].is_null() {
        let unfit = |(name, value): (&String, &Json)| Some((name.clone(), unfit(&schema["properties"][name], value)?));
        return values.iter().find_map(unfit);
    }
    let plain = |name: &str| -> String {
        let letters = name.chars().filter(|letter| letter.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let given = |name: &str| {
        let value = values.iter().find(|(key, _)| plain(key) == plain(name));
        value.map(|(_, value)| value).filter(|value| !value.is_null())
    };
    let needed = schema["required"].as_array().into_iter().flatten();
    let missing = (needed.filter_map(Json::as_str)).find(|name| given(name).is_none());
    if let Some(name) = missing {
        return Some((name.to_owned(), "it is required".to_owned()));
    }
    let properties = schema["properties"].as_object().into_iter().flatten();
    let wrong = |(name, about): (&String, &Json)| {
        let value = given(name)?;
        let why = mistyped(about, value).or_else(|| complaint(about, value))?;
        Some((name.clone(), why))
    };
    properties.into_iter().find_map(wrong)
}

/// Returns the error for a text that is no number of an attribute's, which the server reads from texts too, or none of
/// its labels.
fn unfit(about: &Json, value: &Json) -> Option<String> {
    let text = value.as_str()?;
    let takes = |kind: &str| about["type"].as_array().is_some_and(|kinds| kinds.iter().any(|one| one == kind));
    if (takes("number") || takes("integer")) && text.trim().parse::<f64>().is_err() {
        return Some("it is no number".to_owned());
    }
    complaint(about, value)
}

/// Returns the error for a value that has none of the types of its schema.
fn mistyped(about: &Json, value: &Json) -> Option<String> {
    let is_a = |kind: &Json| match kind.as_str() {
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    };
    let kinds = match &about["type"] {
        Json::Null => return None,
        Json::Array(kinds) => kinds.as_slice(),
        one => std::slice::from_ref(one),
    };
    (!kinds.iter().any(is_a)).then(|| format!("its type is not {}", about["type"]))
}

/// Says what is wrong with a value by its schema. Of JSON Schema it knows what the server knows (`wed.form_complaint`),
/// which looks again: enum, minimum, maximum, minLength, maxLength.
fn complaint(about: &Json, value: &Json) -> Option<String> {
    if let Some(choices) = about["enum"].as_array()
        && !choices.contains(value)
    {
        let choices: Vec<String> = choices.iter().map(text_of).collect();
        return Some(format!("one of {} is expected", choices.join(", ")));
    }
    let bound = |name: &str| about[name].as_f64();
    if let Some(number) = value.as_f64() {
        return match (bound("minimum"), bound("maximum")) {
            (Some(least), _) if number < least => Some(format!("it is less than {least}")),
            (_, Some(most)) if number > most => Some(format!("it is more than {most}")),
            _ => None,
        };
    }
    let length = value.as_str()?.chars().count() as f64;
    match (bound("minLength"), bound("maxLength")) {
        (Some(least), _) if length < least => Some(format!("it is shorter than {least} characters")),
        (_, Some(most)) if length > most => Some(format!("it is longer than {most} characters")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form() -> Form {
        let schema = json!({ "type": "object", "additionalProperties": false, "required": ["note"], "properties": {
            "cost": { "type": ["number", "null"], "minimum": 0 },
            "note": { "type": "string", "maxLength": 5 },
            "done": { "type": ["boolean", "null"] } } });
        Form::new(&json!({ "form": schema, "data": { "note": "tea" }, "outputs": ["cost", "note", "done"] }))
    }

    fn type_in(form: &mut Form, text: &str) {
        let field = form.field().expect("a field");
        text.chars().for_each(|one| field.typed(one));
    }

    #[test]
    fn changed_and_required_values_are_sent() {
        let mut form = form();
        type_in(&mut form, "12.50");
        let sent = form.values().map(|values| Json::from(values).to_string());
        assert_eq!(sent.as_deref(), Some(r#"{"cost":12.50,"note":"tea"}"#));
    }

    #[test]
    fn values_that_the_schema_refuses_are_marked_at_their_field() {
        let mut form = form();
        type_in(&mut form, "-1");
        assert_eq!(form.values(), None);
        assert!(form.fields[0].wrong.as_deref().is_some_and(|why| why.contains("less than 0")));
        form.field().expect("a field").write(String::new());
        form.step(true);
        type_in(&mut form, "pots");
        assert_eq!(form.values(), None);
        assert_eq!(form.at, 1);
        form.field().expect("a field").write(String::new());
        assert_eq!(form.values(), None, "required");
        assert!(form.fields[1].wrong.is_some());
    }

    #[test]
    fn form_of_attributes_takes_texts_of_numbers_and_labels() {
        let schema = json!({ "$schema": "x", "properties": {
            "cost": { "type": ["number", "null"] }, "kind": { "enum": ["a", "b"] } } });
        let of = |values: Json| complaint_of(&schema, values.as_object().expect("values")).map(|(name, _)| name);
        assert_eq!(of(json!({ "cost": "12.5", "kind": "a" })), None);
        assert_eq!(of(json!({ "cost": null, "kind": null })), None);
        assert_eq!(of(json!({ "cost": "abc" })).as_deref(), Some("cost"));
        assert_eq!(of(json!({ "kind": "zz" })).as_deref(), Some("kind"));
    }

    #[test]
    fn text_that_is_no_value_of_its_type_is_marked() {
        let mut form = form();
        form.step(false);
        type_in(&mut form, "maybe");
        assert_eq!(form.values(), None);
        assert_eq!(form.fields[2].wrong.as_deref(), Some("true or false is expected"));
    }

    #[test]
    fn fields_stand_as_they_are_declared() {
        let properties = json!({ "a": { "type": "string" }, "z": { "type": "string" }, "m": { "type": "string" } });
        let form = Form::new(&json!({ "form": { "properties": properties }, "data": {}, "outputs": ["z", "m"] }));
        let names: Vec<&str> = form.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["z", "m", "a"]);
    }

    #[test]
    fn cursor_goes_through_a_text_of_any_script() {
        let mut form = form();
        form.step(true);
        let field = form.field().expect("a field");
        field.write("añb".to_owned());
        field.go_to(2);
        field.typed('é');
        field.erase(true);
        field.erase(true);
        assert_eq!(field.split(), ("a", "b"));
        field.erase(false);
        field.erase(false);
        assert_eq!(field.text, "a");
        field.go_to(0);
        field.erase(true);
        assert_eq!(field.text, "a");
    }

    #[test]
    fn draft_gives_back_what_was_typed_and_a_comma_is_a_point() {
        let mut first = form();
        assert!(first.texts().is_empty());
        type_in(&mut first, "12,5");
        let texts = Json::from(first.texts());
        let mut again = form();
        again.resume(&texts);
        let sent = again.values().map(|values| Json::from(values).to_string());
        assert_eq!(sent.as_deref(), Some(r#"{"cost":12.5,"note":"tea"}"#));
    }
}
