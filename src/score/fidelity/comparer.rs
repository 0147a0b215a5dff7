//! Compares pairs of calls, many at once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::align::Alignment;
use super::words::{Cosines, TextPair, Words};
use super::{CallFidelity, Weights, combine};
use crate::encoder::{Embedder, EncoderError};
use crate::trajectory::catalog::Catalog;
use crate::trajectory::json::Json;

/// Two calls of one tool; missing arguments are an empty object.
#[derive(Debug, Clone, Copy)]
pub struct CallPair<'c> {
    /// The tool of both.
    pub tool: &'c str,
    /// The arguments of the first, the reference.
    pub a: Option<&'c Json>,
    /// The arguments of the second, the prediction.
    pub b: Option<&'c Json>,
}

/// Pairs of calls that are compared, by their index.
type Pairs<'p, 'c> = dyn Fn(usize) -> CallPair<'c> + Sync + 'p;

/// Compares arguments. Deterministic: the same calls, catalog and encoder give the same numbers on any machine,
/// whatever is compared beside them and on however many cores.
///
/// [`Fidelity::compare_all`] is what scores are made of. [`Fidelity::compare`] knows of words only their spelling and
/// the lexicon.
///
/// ```
/// use m3::score::fidelity::{CallPair, Fidelity, Verdict};
/// use m3::trajectory::json::parse;
///
/// let json = |text: &str| parse(text.as_bytes()).unwrap().0;
/// let fidelity = Fidelity::new(None);
/// let (a, b) = (json(r#"{"lat": 52.08, "lng": 4.31}"#), json(r#"{"lat": 52.08, "lng": -4.31}"#));
/// let found = fidelity.compare(CallPair { tool: "air/conditions", a: Some(&a), b: Some(&b) });
/// assert!(found.score < 0.1);
/// assert_eq!(found.worst().unwrap().path, "/lng");
/// assert_eq!(found.worst().unwrap().verdict, Verdict::Different);
/// ```
#[derive(Debug, Default)]
pub struct Fidelity<'a> {
    catalog: Option<&'a Catalog>,
    weights: Option<&'a Weights>,
    cosines: Arc<Cosines>,
}

/// Pairs of calls that are compared before the words of all are looked up together.
const PAIRS_AT_ONCE: usize = 8192;

/// Pairs of words from which on they are looked up, before further calls are compared.
const WORDS_AT_ONCE: usize = 8192;

/// Pairs of calls that a thread takes at once, and for which another thread is worth its start.
const BLOCK: usize = 16;

/// The most threads: further ones wait for memory.
const MOST_THREADS: usize = 8;

/// What came of some pairs, by their index.
#[derive(Debug, Default)]
struct Compared {
    found: Vec<(usize, CallFidelity)>,
    /// Those that asked for the cosines of words that are not known.
    open: Vec<usize>,
    wanted: BTreeSet<TextPair>,
}

impl<'a> Fidelity<'a> {
    /// With a catalog, kinds, defaults and what is required are known from the tools' schemas.
    #[must_use]
    pub fn new(catalog: Option<&'a Catalog>) -> Self {
        Self { catalog, ..Self::default() }
    }

    /// The same with what is known of which arguments vary. Without, no argument is a constant.
    #[must_use]
    pub fn weighted_by(self, weights: &'a Weights) -> Self {
        Self { weights: Some(weights), ..self }
    }

    /// Compares `count` pairs and hands each to `found` with its index, in an order that means nothing. Those whose words
    /// need embeddings are compared a second time, when their words are known. `progress` is told how many of how many
    /// are done.
    ///
    /// # Errors
    /// [`EncoderError`].
    pub fn compare_all(
        &mut self,
        count: usize,
        pair: &Pairs<'_, '_>,
        embedder: &mut Embedder,
        progress: &mut dyn FnMut(usize, usize),
        found: &mut dyn FnMut(usize, CallFidelity),
    ) -> Result<(), EncoderError> {
        let mut done = 0;
        while done < count {
            self.cosines().forget();
            let start = done;
            let most = (count - start).min(PAIRS_AT_ONCE);
            let (mut compared, reached) = self.compare_some(most, &|at| pair(start + at));
            compared.found.drain(..).for_each(|(at, fidelity)| found(start + at, fidelity));
            let mut open: Vec<usize> = compared.open.iter().map(|at| start + at).collect();
            while !open.is_empty() {
                let closed = start + reached - open.len();
                let all = open.len();
                let wanted = std::mem::take(&mut compared.wanted);
                self.cosines().learn(wanted, embedder, &mut |part, of| {
                    progress(closed + all * part / of.max(1), count);
                })?;
                let reached;
                (compared, reached) = self.compare_some(all, &|at| pair(open[at]));
                compared.found.drain(..).for_each(|(at, fidelity)| found(open[at], fidelity));
                // What one word means may decide whether another one is asked for.
                open =
                    compared.open.iter().map(|&at| open[at]).chain(open[reached..].iter().copied()).collect();
            }
            done = start + reached;
            progress(done, count);
        }
        Ok(())
    }

    /// What is known of words. No thread holds it between comparisons.
    fn cosines(&mut self) -> &mut Cosines {
        Arc::make_mut(&mut self.cosines)
    }

    /// Compares the first of `count` pairs, on as many threads as are worth it: all, unless they ask for so many words
    /// that those should be looked up first. Says how many.
    fn compare_some(&self, count: usize, pair: &Pairs<'_, '_>) -> (Compared, usize) {
        let (next, wanted) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            let words = Words::of(&self.cosines);
            let mut compared = Compared::default();
            while wanted.load(Ordering::Relaxed) < WORDS_AT_ONCE {
                let start = next.fetch_add(BLOCK, Ordering::Relaxed);
                if start >= count {
                    break;
                }
                let before = words.wanted();
                for index in start..count.min(start + BLOCK) {
                    let fidelity = self.compare_by(pair(index), &words);
                    if words.is_open() {
                        compared.open.push(index);
                    } else {
                        compared.found.push((index, fidelity));
                    }
                }
                wanted.fetch_add(words.wanted() - before, Ordering::Relaxed);
            }
            compared.wanted = words.take_wanted();
            compared
        };
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let helpers = cores.min(MOST_THREADS).min(count.div_ceil(BLOCK)).saturating_sub(1);
        let compared = thread::scope(|scope| {
            let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(work)).collect();
            let mut compared = work();
            for helper in helpers {
                // A thread that fails has failed on a bug, which is passed on.
                let other = helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                compared.found.extend(other.found);
                compared.open.extend(other.open);
                compared.wanted.extend(other.wanted);
            }
            compared
        });
        (compared, next.into_inner().min(count))
    }

    /// Compares one pair.
    #[must_use]
    pub fn compare(&self, pair: CallPair<'_>) -> CallFidelity {
        self.compare_by(pair, &Words::of(&self.cosines))
    }

    fn compare_by(&self, pair: CallPair<'_>, words: &Words) -> CallFidelity {
        words.begin();
        let none = Json::Object(Vec::new());
        let (a, b) = (pair.a.unwrap_or(&none), pair.b.unwrap_or(&none));
        let mut arguments = Alignment::of(self.catalog, words, pair.tool, a, b);
        if let Some(weights) = self.weights {
            for argument in &mut arguments {
                argument.weight *= weights.weight(pair.tool, &argument.path);
            }
        }
        let score = combine::combine(&arguments);
        CallFidelity { score, arguments }
    }
}
