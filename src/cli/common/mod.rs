//! Parts that several commands share: input and output, errors, the encoder, models, servers, the options of scoring.

pub(in crate::cli) mod encoder;
pub(in crate::cli) mod failure;
pub(in crate::cli) mod file_size;
pub(in crate::cli) mod hints;
pub(in crate::cli) mod hosting;
pub(in crate::cli) mod input;
pub(in crate::cli) mod listener;
pub(in crate::cli) mod llm;
pub(in crate::cli) mod output;
pub(in crate::cli) mod places;
pub(in crate::cli) mod printer;
pub(in crate::cli) mod replay;
pub(in crate::cli) mod results;
pub(in crate::cli) mod scoring;
pub(in crate::cli) mod served_page;
