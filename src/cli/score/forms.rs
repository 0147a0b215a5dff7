//! The forms of `m3 score`: those of every report that is written trajectory by trajectory, and those that build servers and
//! code hosts read.

use std::io::{self, Write};

use clap::ValueEnum;
use m3_report::{Evaluations, Floor, Format, Junit, Sarif, ScoreRenderer};

use crate::cli::common::places::PointsAt;

/// The form of a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScoreFormArg {
    /// For people
    Table,
    /// Everything, as one document
    Json,
    /// One trajectory a line, the summary last: for files of any size
    Jsonl,
    /// A row for each trajectory, each type and the whole
    Csv,
    /// For a pull request
    Markdown,
    /// JUnit's XML, for build servers: a test case for each trajectory
    Junit,
    /// SARIF 2.1.0, for code hosts: every fault with its place
    Sarif,
    /// OpenTelemetry's events `gen_ai.evaluation.result`: a document of OTLP/JSON a line, beside the spans of `m3 export`
    Otel,
}

impl ScoreFormArg {
    /// Whether the form has a place for outcomes and grades.
    pub(crate) fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl)
    }

    /// The kind of place that the form refers to.
    pub(crate) fn points_at(self) -> PointsAt {
        match self {
            Self::Sarif => PointsAt::Lines,
            Self::Otel => PointsAt::Spans,
            _ => PointsAt::Nothing,
        }
    }

    /// A renderer for this form; `(columns, is_styled)` are the width and style of tables.
    pub(crate) fn renderer<'a>(
        self,
        writer: Box<dyn Write + 'a>,
        (columns, is_styled): (usize, bool),
        floors: Vec<Floor>,
    ) -> io::Result<Box<dyn ScoreRenderer + 'a>> {
        let format = match self {
            Self::Junit => return Ok(Box::new(Junit::new(writer, floors)?)),
            Self::Sarif => return Ok(Box::new(Sarif::new(writer, floors)?)),
            Self::Otel => return Ok(Box::new(Evaluations::new(writer, floors))),
            Self::Table => Format::Table,
            Self::Json => Format::Json,
            Self::Jsonl => Format::JsonLines,
            Self::Csv => Format::Csv,
            Self::Markdown => Format::Markdown,
        };
        Ok(format.renderer(writer, columns, is_styled))
    }
}
