//! HTTP on this machine: [`Serving`] serves a router until it is stopped, and a [`PageServer`] a page to the person who
//! started the program. A [`Handler`] answers the requests of a page.

#![forbid(unsafe_code)]

mod page_server;
mod serving;

pub use page_server::{Handler, HandlerMut, Page, PageServer, PageServerError, Request, Response};
pub use serving::Serving;
