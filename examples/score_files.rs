//! Scores two files from a program, and prints the unmatched call that came nearest to a match.
//!
//! ```sh
//! cargo run --example score_files trajectories/predictions-poor.json trajectories/references.json
//! ```

use std::error::Error;
use std::path::PathBuf;

use m3_embedding::Embedder;
use m3_encoder::{AssetOptions, Assets, OnnxEncoder};
use m3_score::{Metric, Profile, ScoreOptions, score};
use m3_trajectory::{Duplicates, TrajectoryFile};

#[expect(clippy::print_stdout, reason = "an example shows what it found")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(predictions), Some(references)) = (arguments.next(), arguments.next()) else {
        return Err("usage: score_files PREDICTIONS REFERENCES".into());
    };
    let predictions = TrajectoryFile::open(&predictions, Duplicates::Error)?;
    let references = TrajectoryFile::open(&references, Duplicates::Error)?;

    let options = AssetOptions::from_env(None)?;
    let assets = Assets::locate(&options, &mut |_| ())?;
    let encoder = OnnxEncoder::open(assets, &options.cache_dir)?;
    let mut embedder = Embedder::new(Box::new(encoder), None);

    let mut nearest: Option<(f64, String, String)> = None;
    let sink = &mut |scored: m3_score::ScoredTrajectory<'_>| {
        for call in &scored.score.matching.unmatched_references {
            if let Some((_, similarity)) = call.best
                && nearest.as_ref().is_none_or(|(best, ..)| similarity > *best)
            {
                nearest = Some((similarity, call.tool.clone(), scored.score.id.clone()));
            }
        }
        Ok::<_, m3_score::ScoreError>(())
    };
    let summary =
        score(&predictions, &references, ScoreOptions::default(), &mut embedder, sink, &mut |_, _| ())?;

    let metrics = summary.aggregate.metrics(Profile::Paper);
    for metric in Metric::of_scores() {
        println!("{:<28} {:.4}", metric.name(), metrics[metric]);
    }
    if let Some((similarity, tool, id)) = nearest {
        println!("nearly matched: `{tool}` of `{id}`, similarity {similarity:.4}");
    }
    Ok(())
}
