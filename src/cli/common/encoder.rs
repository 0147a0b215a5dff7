//! Opens the encoder for the commands that need it, fetching it with a progress bar.

use std::path::PathBuf;

use clap::Args;
use m3_embedding::{Embedder, EmbeddingCache};
use m3_encoder::{AssetOptions, Assets, Cache, InstallEvent, OnnxEncoder};
use m3_report::visible;

use crate::cli::common::failure::Result;
use crate::cli::common::printer::{Bar, Printer};

/// Options of commands that embed texts.
#[derive(Debug, Clone, Args)]
pub(crate) struct EncoderArgs {
    /// Another sentence encoder: a folder with `model.onnx` and `tokenizer.json`, or a model that `m3 setup --help` lists,
    /// fetched once: `--encoder fastembed:BGESmallENV15` [env: M3_ENCODER_DIR]
    #[arg(long, value_name = "ENCODER", help_heading = "Encoder")]
    encoder: Option<PathBuf>,
    /// Threads of the encoder [default: one a core]; the numbers do not depend on it
    #[arg(long, value_name = "N", help_heading = "Encoder", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Texts in one batch at most [default: 64]; the numbers do not depend on it
    #[arg(long, value_name = "N", help_heading = "Encoder", value_parser = clap::value_parser!(u16).range(1..))]
    batch_size: Option<u16>,
    /// Neither read nor write the embedding cache
    #[arg(long, help_heading = "Encoder")]
    no_cache: bool,
}

impl EncoderArgs {
    /// Finds or fetches the encoder, and puts the cache in front of it.
    pub(crate) fn open(&self, mut options: AssetOptions, printer: Printer) -> Result<Embedder> {
        options.encoder_dir = self.encoder.clone().or(options.encoder_dir);
        let assets = Assets::locate(&options, &mut install_progress(printer))?;
        let mut encoder = OnnxEncoder::open(assets, &options.cache_dir)?;
        if let Some(threads) = self.threads {
            encoder = encoder.with_threads(threads.into());
        }
        if let Some(texts) = self.batch_size {
            encoder = encoder.with_batch_size(texts.into());
        }
        let cache = if self.no_cache { None } else { open_cache(&options, &encoder, printer) };
        Ok(Embedder::new(Box::new(encoder), cache))
    }
}

fn open_cache(
    options: &AssetOptions,
    encoder: &OnnxEncoder,
    printer: Printer,
) -> Option<Box<dyn EmbeddingCache>> {
    use m3_embedding::Encoder as _;
    let identity = encoder.identity();
    let limit = cache_limit(printer);
    match Cache::open(&options.cache_dir, &identity.name, &identity.fingerprint, limit) {
        Ok(cache) => {
            if cache.is_read_only() {
                let path = Cache::path(&options.cache_dir);
                printer.note(&format!("`{}` is read-only: what is new is not kept", path.display()));
            }
            Some(Box::new(cache))
        }
        Err(error) => {
            printer.warn(&format!("{error}; going on without it"));
            None
        }
    }
}

/// The limit of the cache's size in bytes; a limit that cannot be read is reported, and the default is used.
pub(crate) fn cache_limit(printer: Printer) -> u64 {
    Cache::limit().unwrap_or_else(|value| {
        printer.warn(&format!(
            "M3_CACHE_LIMIT is `{}`, and should be a number of MiB; 512 is used",
            visible(&value, false)
        ));
        Cache::DEFAULT_LIMIT
    })
}

/// A function that shows the progress of an installation.
pub(crate) fn install_progress(printer: Printer) -> impl FnMut(InstallEvent) {
    let (mut bar, mut has_waited): (Option<Bar>, bool) = (None, false);
    move |event| match event {
        InstallEvent::Waiting => {
            if !std::mem::replace(&mut has_waited, true) {
                printer.note("another m3 is fetching the encoder; waiting for it");
            }
        }
        InstallEvent::Download { what, from, into, total } => {
            let size = match total {
                0 => "of unknown size".to_owned(),
                bytes => format!("{} MB", (bytes / 1_000_000).max(1)),
            };
            let from = from.map_or_else(String::new, |from| format!(" from {from}"));
            printer.note(&format!("fetching {what} ({size}, once){from} into {}", into.display()));
            bar = Some(printer.byte_bar());
        }
        InstallEvent::Fetching { done, total } => {
            if let Some(bar) = &bar {
                bar.set("fetching", done, total);
            }
        }
    }
}
