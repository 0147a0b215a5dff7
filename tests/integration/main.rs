//! All integration tests in one program: a new test goes into the file of the part that it tests.
//!
//! Tests that need the encoder fetch it like any user (`support::encoder`); those that need the benchmark's data read
//! `../shared/data` and print `skipped: ..` if it is missing.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

mod agree;
mod agreement;
mod arguments;
mod audit;
mod bad_input;
mod blind;
mod cache;
mod calibrate;
mod catalog_differences;
mod circles;
mod comparability;
mod documents;
mod encoder;
mod evaluations;
mod executor;
mod export;
mod failed_runs;
mod fastembed;
mod fidelity;
mod first_screen;
mod flow;
mod formats;
mod full_disk;
mod github_action;
mod grade;
mod host;
mod image_server;
mod import;
mod inputs;
mod judge;
mod layout;
mod leaderboard;
mod llm_client;
mod m3_bench;
mod machine_forms;
mod mcp_cli;
mod mcp_config;
mod other_servers;
mod outcomes;
mod outputs;
mod own_benchmark;
mod page;
mod paper_table;
mod pipeline;
mod places;
mod privacy;
mod properties;
mod recipes;
mod record;
mod repeats;
mod review;
mod run;
mod score_service;
mod scripted_model;
mod serve;
mod serve_http;
mod setup;
mod shell;
mod show;
mod signals;
mod simulated;
mod simulated_cli;
mod suites;
mod support;
mod trajectory_match;
mod validate;
mod verdict;
mod view;
mod vocabulary;
mod widths;
