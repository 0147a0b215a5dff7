//! The command `m3 cache`: shows or clears the cache of embeddings.

use clap::{Args, ValueEnum};
use m3_encoder::{Cache, CacheUsage};
use m3_report::visible;

use super::Common;
use crate::cli::common::{Printer, Result, cache_limit, print};

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
pub(super) fn run(args: &CacheArgs, common: &Common, printer: Printer) -> Result {
    let cache_dir = common.assets()?.cache_dir;
    let limit = cache_limit(printer);
    let mut lines = vec![visible(&Cache::path(&cache_dir).display().to_string(), false).into_owned()];
    let is_clear = args.action == Action::Clear;
    let usage = if is_clear { Cache::clear(&cache_dir, limit)? } else { Cache::usage(&cache_dir, limit)? };
    lines.push(match &usage {
        None if is_clear => "nothing to remove".to_owned(),
        None => "empty".to_owned(),
        Some(removed) if is_clear => format!("removed {:.1} MiB", mebibytes(removed.bytes)),
        Some(held) => format!("{:.1} MiB of {:.0} MiB", mebibytes(held.bytes), mebibytes(held.limit)),
    });
    lines.extend(usage.iter().flat_map(contents));
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
