//! The command `m3 cache`: shows or clears the cache of embeddings.

use clap::{Args, ValueEnum};
use m3_encoder::{Cache, CacheUsage};
use m3_report::visible;

use super::Common;
use crate::cli::common::{Failure, Printer, cache_limit, print};

/// Options of `m3 cache`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CacheArgs {
    /// What to do
    #[arg(value_enum, default_value_t = Action::Show)]
    action: Action,
}

const EXAMPLES: &str = "\
Embeddings are kept between runs, by encoder and text. When the file grows over its limit (M3_CACHE_LIMIT \
in MiB, 512 by default), those unused for longest are dropped.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Action {
    /// Say where it is, how large, and what is in it
    Show,
    /// Remove all embeddings; the encoder itself stays
    Clear,
}

/// Shows or clears the cache.
pub(super) fn run(args: &CacheArgs, common: &Common, printer: Printer) -> Result<(), Failure> {
    let cache_dir = common.assets()?.cache_dir;
    let limit = cache_limit(printer);
    let mut lines = vec![visible(&Cache::path(&cache_dir).display().to_string(), false).into_owned()];
    if args.action == Action::Clear {
        match Cache::clear(&cache_dir, limit)? {
            None => lines.push("nothing to remove".to_owned()),
            Some(held) => {
                lines.push(format!("removed {:.1} MiB", mebibytes(held.bytes)));
                lines.extend(contents(&held));
            }
        }
    } else {
        match Cache::usage(&cache_dir, limit)? {
            None => lines.push("empty".to_owned()),
            Some(usage) => {
                lines.push(format!("{:.1} MiB of {:.0} MiB", mebibytes(usage.bytes), mebibytes(usage.limit)));
                lines.extend(contents(&usage));
            }
        }
    }
    print(format!("{}\n", lines.join("\n")))
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// A line for each encoder.
fn contents(usage: &CacheUsage) -> impl Iterator<Item = String> {
    usage.encoders.iter().map(|(name, fingerprint, count)| {
        format!("{count:>8} embeddings  {}  {}", visible(name, false), visible(fingerprint, false))
    })
}
