//! Pictures of results, as SVG and PNG.
//!
//! ```text
//! names and numbers -> LeaderboardBars | MetricByTask | Outcomes | SimilarityHistogram | AgreementMap | RankLines |
//! SuccessAreas -> SVG -> PNG
//! ```
//!
//! | module | what it does |
//! | --- | --- |
//! | `leaderboard`, `by_task`, `outcomes`, `histogram`, `heat_map`, `ranks`, `success` | one figure each |
//! | `frame`, `axis`, `legend`, `marks` | what figures share: title and notes, scales, keys, colours and shapes |
//! | `text` | widths of text, cleaning and shortening of names |
//! | `svg` | the writer; everything is escaped there |
//! | `png` | rasterizing |
//!
//! The crate depends on no other part of m3, except for how hidden characters are shown. Names are untrusted: what
//! could reorder or hide text is shown as `\u{..}`, and a name longer than its column loses its middle. Numbers may
//! be anything: what is not finite counts as missing, what lies outside of an axis is drawn at its end.
//!
//! Pictures are 800 units wide on white, with text of at least 11 units; the height grows with the rows, of which at
//! most [`MAX_ROWS`] are drawn. No meaning depends on colour alone.
//!
//! # Example
//!
//! ```
//! use m3_figures::{Bar, LeaderboardBars, to_png};
//!
//! let bars = vec![Bar { name: "GPT-5".to_owned(), value: 0.482, interval: Some((0.451, 0.513)) }];
//! let figure = LeaderboardBars { title: "Leaderboard".to_owned(), axis: "average".to_owned(), bars };
//! let png = to_png(&figure.to_svg(), 2.0)?;
//! assert_eq!(&png[1..4], b"PNG");
//! # Ok::<(), m3_figures::FiguresError>(())
//! ```

#![forbid(unsafe_code)]

mod axis;
mod by_task;
mod frame;
mod heat_map;
mod histogram;
mod leaderboard;
mod legend;
mod marks;
mod outcomes;
mod palette;
mod png;
mod ranks;
mod success;
mod svg;
#[cfg(test)]
mod tests;
mod text;

pub use by_task::{MetricByTask, TaskValues};
pub use frame::MAX_ROWS;
pub use heat_map::AgreementMap;
pub use histogram::{SimilarityBin, SimilarityHistogram};
pub use leaderboard::{Bar, LeaderboardBars};
pub use outcomes::{ModelOutcomes, Outcomes};
pub use png::{FiguresError, to_png};
pub use ranks::{RankLines, RankedLine};
pub use success::{AreaBar, ReliabilityCurve, ReliabilityPoint, SuccessAreas};
