//! Parts that several commands share: input and output, errors, the encoder, models, servers, the options of scoring.

mod encoder;
mod failure;
mod hosting;
pub(crate) mod input;
mod listener;
mod llm;
mod output;
mod places;
mod printer;
mod replay;
mod results;
mod scoring;
mod served_page;

pub(crate) use encoder::{EncoderArgs, cache_limit, install_progress};
pub(crate) use failure::{Failure, Result, TEMPORARY, candidates_message, code, nearest};
pub(crate) use hosting::{
    HostWithEvents, Servers, Signals, StartNotes, add_simulated, asked_to_end, interrupted, redactor,
    runtime, select, shown_lines, single_thread_runtime, start, warn_of_rejected, warn_of_schemas,
};
pub(crate) use input::{PredictionsArg, open_all};
pub use listener::{CommandResult, Message, Watch};
pub(crate) use listener::{Listener, StoppedByCaller};
pub(crate) use llm::{ReplyArgs, check_record, open_model, record, said_of_retry};
pub(crate) use output::{
    Output, WidthArgs, commit_all, form, outlive_limit, place_of, print, print_rows, refuse_equal,
};
pub(crate) use places::{PointsAt, ScoredFiles, ScoredPlaces, working_folder};
pub(crate) use printer::{Bar, Printer};
pub(crate) use replay::{Inputs, ReplayArgs, configuration, replay_configuration};
pub(crate) use results::{
    DrawsArgs, FormArgs, FormatArg, NamedFile, SelectArgs, TablesArgs, all_or_errors, number_names, png_of,
    read_all, write_json,
};
pub(crate) use scoring::ask_same::AskSameArgs;
pub(crate) use scoring::conditions::{ByArg, Conditions, ConditionsArgs, MODEL_FILE, ModelArg};
pub(crate) use scoring::suites::{SuiteArgs, Suites};
pub(crate) use scoring::tool_names::{ToolNamesArg, warn_of_open};
pub(crate) use scoring::{Scoring, ScoringArgs, check_aligned};
pub(crate) use served_page::serve_page;
