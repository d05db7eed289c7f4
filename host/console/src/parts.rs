//! Live parts of pages: each is computed once for all pages that ask for it while it is computed, or shortly after.

use std::sync::Arc;
use std::time::{Duration, Instant};

use maud::Markup;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use wedflow_documents::Me;

use crate::words::Language;

/// Times that a part is kept as long as it took, so that computing it again and again takes a hundredth of the time.
const KEPT_PER_COMPUTED: u32 = 100;
/// Shortest time for which a part is kept.
const KEPT_MIN: Duration = Duration::from_secs(1);
/// Longest time for which a part is kept.
const KEPT_MAX: Duration = Duration::from_secs(10);
/// Number of parts that are kept, about.
const PARTS_MAX: usize = 512;
/// Most bytes of the parts that are kept.
const BYTES_MAX: u64 = 16 << 20;

/// Key of a part: all that its content depends on. People with equal rights in a tenant share a part.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PartKey {
    address: String,
    tenant: String,
    may: Vec<String>,
    flows: Vec<String>,
    language: Language,
}

impl PartKey {
    /// Makes the key of the part at an address, as `me` sees it.
    pub(crate) fn new(address: &str, me: &Me, language: Language) -> Self {
        PartKey {
            address: address.to_owned(),
            tenant: me.tenant.clone(),
            may: me.may.clone(),
            flows: me.flows.clone(),
            language,
        }
    }
}

/// A part that was computed.
#[derive(Debug, Clone)]
struct KeptPart {
    content: Arc<Markup>,
    until: Instant,
}

/// Weighs parts by their bytes.
#[derive(Debug, Clone)]
struct ByBytes;

impl Weighter<PartKey, KeptPart> for ByBytes {
    fn weight(&self, key: &PartKey, part: &KeptPart) -> u64 {
        (key.address.len() + part.content.0.len()) as u64
    }
}

/// LiveParts that were computed a moment ago. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct LiveParts(Arc<Cache<PartKey, KeptPart, ByBytes>>);

impl Default for LiveParts {
    fn default() -> Self {
        LiveParts(Arc::new(Cache::with_weighter(PARTS_MAX, BYTES_MAX, ByBytes)))
    }
}

impl LiveParts {
    /// Returns a part that is kept, or that another page has computed by now, or else computes it. A failure is not
    /// kept: whoever waits next tries by themselves. Nor is a part with the asker's `proof`, which is nobody else's.
    pub(crate) async fn share<E>(
        &self,
        key: &PartKey,
        proof: &str,
        compute: impl Future<Output = Result<Markup, E>>,
    ) -> Result<Arc<Markup>, E> {
        let now = Instant::now();
        self.0.remove_if(key, |kept| kept.until <= now);
        match self.0.get_value_or_guard_async(key).await {
            Ok(kept) => Ok(kept.content),
            Err(guard) => {
                let part = KeptPart::computed(compute).await?;
                if !part.content.0.contains(proof) {
                    // It fails when a page put a newer one there meanwhile.
                    let _ = guard.insert(part.clone());
                }
                Ok(part.content)
            }
        }
    }

    /// Computes a part, and keeps it in place of an older one: whoever opens a page sees what they did just before.
    pub(crate) async fn renew<E>(
        &self,
        key: PartKey,
        proof: &str,
        compute: impl Future<Output = Result<Markup, E>>,
    ) -> Result<Arc<Markup>, E> {
        let part = KeptPart::computed(compute).await?;
        if !part.content.0.contains(proof) {
            self.0.insert(key, part.clone());
        }
        Ok(part.content)
    }
}

impl KeptPart {
    async fn computed<E>(compute: impl Future<Output = Result<Markup, E>>) -> Result<Self, E> {
        let begun = Instant::now();
        let content = Arc::new(compute.await?);
        Ok(KeptPart { content, until: Instant::now() + kept_for(begun.elapsed()) })
    }
}

/// Returns the time for which a part is kept that took so long to compute.
fn kept_for(computed: Duration) -> Duration {
    let kept = computed.saturating_mul(KEPT_PER_COMPUTED);
    kept.clamp(KEPT_MIN, KEPT_MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use maud::html;

    use super::*;

    fn key(address: &str, change: impl FnOnce(&mut Me)) -> PartKey {
        let mut me = Me {
            tenant: "acme".to_owned(),
            user: "ann".to_owned(),
            role: "viewer".to_owned(),
            token: "all".to_owned(),
            scopes: vec!["read".to_owned()],
            may: vec!["flows:read".to_owned()],
            flows: Vec::new(),
            person: false,
        };
        change(&mut me);
        PartKey::new(address, &me, Language::English)
    }

    /// Counts computations, each of which lets the others go first.
    async fn compute(count: &AtomicU32) -> Result<Markup, ()> {
        tokio::task::yield_now().await;
        let number = count.fetch_add(1, Ordering::Relaxed);
        Ok(html! { "part " (number) })
    }

    #[tokio::test]
    async fn pages_that_ask_together_get_one_computation() {
        let (parts, count) = (LiveParts::default(), AtomicU32::new(0));
        let of = key("/live", |_| {});
        let ask = || parts.share(&of, "proof", compute(&count));
        let (one, two, three) = tokio::join!(ask(), ask(), ask());
        assert_eq!([one, two, three].map(|part| part.expect("a part").0.clone()), ["part 0"; 3]);
        assert_eq!(ask().await.expect("a part").0, "part 0");
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn other_rights_another_tenant_or_address_get_their_own() {
        let (parts, count) = (LiveParts::default(), AtomicU32::new(0));
        let keys = [
            key("/live", |_| {}),
            key("/other", |_| {}),
            key("/live", |me| me.tenant = "other".to_owned()),
            key("/live", |me| me.may = Vec::new()),
            key("/live", |me| me.flows = vec!["f".to_owned()]),
        ];
        for of in &keys {
            parts.share(of, "proof", compute(&count)).await.expect("a part");
        }
        assert_eq!(count.load(Ordering::Relaxed), 5);
        // Another person with the same rights sees the same.
        let same = key("/live", |me| me.user = "bob".to_owned());
        let part = parts.share(&same, "proof", compute(&count)).await;
        assert_eq!(part.expect("a part").0, "part 0");
    }

    #[tokio::test]
    async fn failure_is_not_kept_nor_a_part_with_a_proof() {
        let (parts, count) = (LiveParts::default(), AtomicU32::new(0));
        let of = key("/live", |_| {});
        let fail = async || Err::<Markup, &str>("away");
        let (one, two) = tokio::join!(parts.share(&of, "proof", fail()), parts.share(&of, "proof", fail()));
        assert_eq!((one.err(), two.err()), (Some("away"), Some("away")));
        let form = async || Ok::<_, ()>(html! { "a form with secret" });
        parts.share(&of, "secret", form()).await.expect("a part");
        parts.renew(of.clone(), "secret", form()).await.expect("a part");
        let part = parts.share(&of, "proof", compute(&count)).await;
        assert_eq!(part.expect("a part").0, "part 0");
    }

    #[tokio::test]
    async fn old_part_is_computed_again_and_an_opened_page_renews_it() {
        let (parts, count) = (LiveParts::default(), AtomicU32::new(1));
        let of = key("/live", |_| {});
        let old = KeptPart { content: Arc::new(html! { "old" }), until: Instant::now() };
        parts.0.insert(of.clone(), old);
        let part = parts.share(&of, "proof", compute(&count)).await;
        assert_eq!(part.expect("a part").0, "part 1");
        parts.renew(of.clone(), "proof", compute(&count)).await.expect("a part");
        let part = parts.share(&of, "proof", compute(&count)).await;
        assert_eq!(part.expect("a part").0, "part 2");
    }

    #[tokio::test]
    async fn parts_are_bounded_in_bytes() {
        let parts = LiveParts::default();
        for number in 0..64 {
            let of = key(&format!("/{number}"), |_| {});
            let large = async || Ok::<_, ()>(html! { ("x".repeat(1 << 20)) });
            parts.share(&of, "proof", large()).await.expect("a part");
        }
        assert!(parts.0.weight() <= BYTES_MAX, "{}", parts.0.weight());
    }

    #[test]
    fn part_is_kept_a_hundred_times_as_long_as_it_took_within_bounds() {
        let kept = |ms| kept_for(Duration::from_millis(ms)).as_millis();
        assert_eq!([kept(0), kept(30), kept(5_000)], [1_000, 3_000, 10_000]);
    }
}
