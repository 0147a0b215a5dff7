//! Parts that several commands share: input and output, errors, the encoder, models, servers, the options of scoring.

pub(crate) mod encoder;
pub(crate) mod failure;
pub(crate) mod hosting;
pub(crate) mod input;
pub(crate) mod listener;
pub(crate) mod llm;
pub(crate) mod output;
pub(crate) mod places;
pub(crate) mod printer;
pub(crate) mod replay;
pub(crate) mod results;
pub(crate) mod scoring;
pub(crate) mod served_page;
