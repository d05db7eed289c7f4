//! Settings out of OpenTelemetry's variables of the environment.

use std::time::Duration;

use crate::ids::{TraceId, TraceParent};

/// Longest wait of a span for others to be sent with.
const DELAY: Duration = Duration::from_secs(5);
/// Most spans that are sent at once.
const BATCH_MAX: usize = 512;
/// Longest wait for the collector's answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Choice of the traces that are recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampler {
    /// Share of the traces, from 0 to 1.
    pub ratio: f64,
    /// True if a caller's own choice goes first, for its request.
    pub parent_based: bool,
}

impl Sampler {
    /// Returns true if an instance's trace is recorded: the same on every host.
    pub(crate) fn takes(&self, trace: TraceId) -> bool {
        let mut low = [0; 8];
        low.copy_from_slice(&trace.0[8..]);
        // 53 bits, which a float holds exactly.
        let place = (u64::from_be_bytes(low) >> 11) as f64 / (1_u64 << 53) as f64;
        place < self.ratio
    }

    /// Returns true if a caller's request is recorded.
    pub(crate) fn takes_caller(&self, caller: &TraceParent) -> bool {
        match self.parent_based {
            true => caller.sampled,
            false => self.takes(caller.trace),
        }
    }
}

/// Destination of spans, the choice of them, and the size of portions.
#[derive(Debug, Clone)]
pub struct Settings {
    /// URL that spans are posted to.
    pub url: String,
    /// Headers of each post.
    pub headers: Vec<(String, String)>,
    /// Attributes of this process.
    pub resource: Vec<(String, String)>,
    /// Choice of the traces.
    pub sampler: Sampler,
    /// Longest wait of a span for others to be sent with.
    pub delay: Duration,
    /// Most spans that are sent at once.
    pub batch_max: usize,
    /// Longest wait for the collector's answer.
    pub timeout: Duration,
}

impl Settings {
    /// Reads the variables; none where no collector is named, or traces are switched off.
    pub fn from_environment() -> Option<Self> {
        Self::read(&|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()))
    }

    /// Reads them by a function.
    pub(crate) fn read(variable: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let is = |name: &str, word: &str| variable(name).is_some_and(|value| value.trim().eq_ignore_ascii_case(word));
        if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
            return None;
        }
        let url = match variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") {
            Some(url) => url,
            None => {
                let base = variable("OTEL_EXPORTER_OTLP_ENDPOINT")?;
                format!("{}/v1/traces", base.trim_end_matches('/'))
            }
        };
        let either = |of_traces: &str, of_all: &str| variable(of_traces).or_else(|| variable(of_all));
        let headers = either("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS");
        let mut resource = pairs(&variable("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default());
        if let Some(name) = variable("OTEL_SERVICE_NAME") {
            resource.retain(|(key, _)| key != "service.name");
            resource.push(("service.name".to_owned(), name));
        } else if !resource.iter().any(|(key, _)| key == "service.name") {
            resource.push(("service.name".to_owned(), "wedflow".to_owned()));
        }
        let milliseconds = |name: &str| variable(name).and_then(|text| text.trim().parse().ok());
        let timeout = either("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT");
        let timeout = timeout.and_then(|text| text.trim().parse().ok());
        Some(Settings {
            url,
            headers: pairs(&headers.unwrap_or_default()),
            resource,
            sampler: sampler(variable),
            delay: milliseconds("OTEL_BSP_SCHEDULE_DELAY").map_or(DELAY, Duration::from_millis),
            batch_max: milliseconds("OTEL_BSP_MAX_EXPORT_BATCH_SIZE")
                .and_then(|count| usize::try_from(count).ok())
                .map_or(BATCH_MAX, |count| count.clamp(1, 8_192)),
            timeout: timeout.map_or(TIMEOUT, Duration::from_millis),
        })
    }
}

/// Reads the choice of traces: `always_on`, `always_off`, `traceidratio`, each with `parentbased_` before it or not.
fn sampler(variable: &dyn Fn(&str) -> Option<String>) -> Sampler {
    let name = variable("OTEL_TRACES_SAMPLER").unwrap_or_else(|| "parentbased_always_on".to_owned());
    let name = name.trim().to_ascii_lowercase();
    let own = name.strip_prefix("parentbased_");
    let ratio = match own.unwrap_or(&name) {
        "always_off" => 0.0,
        "traceidratio" => variable("OTEL_TRACES_SAMPLER_ARG")
            .and_then(|text| text.trim().parse().ok())
            .map_or(1.0, |ratio: f64| ratio.clamp(0.0, 1.0)),
        "always_on" => 1.0,
        other => {
            tracing::warn!(
                sampler = other,
                "OTEL_TRACES_SAMPLER names no sampler that is known; all traces are recorded"
            );
            1.0
        }
    };
    Sampler { ratio, parent_based: own.is_some() }
}

/// Reads `key=value,key=value`, the values percent-encoded.
fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |part: &str| {
        let (key, value) = part.split_once('=')?;
        let value = percent_encoding::percent_decode_str(value.trim()).decode_utf8_lossy();
        let key = key.trim();
        (!key.is_empty()).then(|| (key.to_owned(), value.into_owned()))
    };
    text.split(',').filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::InstanceTrace;

    fn read(variables: &[(&str, &str)]) -> Option<Settings> {
        Settings::read(&|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    const COLLECTOR: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/");

    #[test]
    fn nothing_is_sent_without_a_collector() {
        assert!(read(&[]).is_none());
        assert!(read(&[COLLECTOR, ("OTEL_SDK_DISABLED", "true")]).is_none());
        assert!(read(&[COLLECTOR, ("OTEL_TRACES_EXPORTER", "none")]).is_none());
        let url = |variables: &[(&str, &str)]| read(variables).map(|settings| settings.url);
        assert_eq!(url(&[COLLECTOR]).as_deref(), Some("http://collector:4318/v1/traces"));
        let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://own/x");
        assert_eq!(url(&[COLLECTOR, own]).as_deref(), Some("http://own/x"));
    }

    #[test]
    fn headers_and_attributes_are_read() {
        let settings = read(&[
            COLLECTOR,
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20abc,x=1"),
            ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test,=bad,bad"),
            ("OTEL_SERVICE_NAME", "flows"),
        ])
        .expect("settings");
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(settings.headers, [pair("authorization", "Basic abc"), pair("x", "1")]);
        assert_eq!(settings.resource, [pair("deployment.environment", "test"), pair("service.name", "flows")]);
    }

    #[test]
    fn share_of_traces_is_about_the_ratio() {
        let settings = read(&[COLLECTOR, ("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "0.25")]);
        let sampler = settings.expect("settings").sampler;
        let traces = (0..4_000).map(|wid| InstanceTrace::new("mark", 1, wid).id);
        let taken = traces.filter(|id| sampler.takes(*id)).count();
        assert!((800..1_200).contains(&taken), "{taken}");
    }
}
