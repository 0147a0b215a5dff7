//! Answers the paths of the page: while it is served, and for a bundle.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use m3_web::{Handler, Page, Request, Response};
use serde::Serialize;

use crate::documents::{Board, Entries, Of, comparison, home, matrix, run, sent_picture, state, task};
use crate::library::Library;
use crate::page::page;

/// A picture of one pixel (`GIF89a`).
const PIXEL: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

/// The pages of a library.
#[derive(Debug)]
pub struct ViewDesk {
    library: Arc<Library>,
    is_live: bool,
    /// The leaderboards, made on a thread of their own.
    board: Arc<Mutex<Making>>,
}

#[derive(Debug, Default)]
struct Making {
    made: Option<Arc<Vec<u8>>>,
    /// The revision that was made, or is being made.
    revision: Option<u64>,
    is_at_work: bool,
}

impl ViewDesk {
    /// The pages of a library; `is_live` if they are served while runs may go on.
    #[must_use]
    pub fn new(library: Arc<Library>, is_live: bool) -> Self {
        Self { library, is_live, board: Arc::default() }
    }

    pub(crate) fn library(&self) -> &Library {
        &self.library
    }

    /// The answer to a path after `data/`; `None` if there is no such document.
    pub(crate) fn document(&self, path: &str) -> Option<Response> {
        let parts: Vec<&str> = path.split('/').collect();
        let number = |text: &str| text.strip_suffix(".json").unwrap_or(text).parse::<usize>().ok();
        match *parts.as_slice() {
            ["state.json"] => {
                self.library.refresh();
                Some(Response::json(&state(&self.library.read())))
            }
            ["home.json"] => Some(Response::json(&home(&self.library.read(), self.is_live))),
            ["matrix.json"] => Some(Response::json(&matrix(&self.library.read()))),
            ["board.json"] => Some(self.leaderboards()),
            ["run", of] => self.library.read().runs.get(number(of)?).map(|found| Response::json(&run(found))),
            ["references", of] => {
                self.library.read().references.get(number(of)?).map(|found| Response::json(&run(&found.run)))
            }
            [kind @ ("task" | "reference"), of, row] => {
                let shelves = self.library.read();
                let of = number(of)?;
                let of = match kind {
                    "task" => Of::Run(of, shelves.runs.get(of)?),
                    _ => Of::References(&shelves.references.get(of)?.run),
                };
                task(&self.library, &shelves, of, number(row)?).map(|made| Response::json(&made))
            }
            ["compare", pair] => {
                let (first, second) = pair.strip_suffix(".json")?.split_once('-')?;
                let entries = Entries::of(&self.library.read());
                Some(match comparison(&entries, number(first)?, number(second)?) {
                    Ok(made) => Response::json(&made),
                    Err(reason) => Response::json(&Problem { problem: reason }),
                })
            }
            [kind @ ("picture" | "thumbnail"), file] => {
                self.picture(file.strip_suffix(".jpg")?, kind == "thumbnail")
            }
            _ => None,
        }
    }

    fn picture(&self, name: &str, is_thumbnail: bool) -> Option<Response> {
        let place = self.library.pictures.place(name)?;
        let sent = |place: &_| sent_picture(&self.library.read(), place);
        // A single pixel stands for a picture that cannot be shown, and the page says so: an error status would look
        // like a fault of the page.
        let (kind, bytes) = self
            .library
            .pictures
            .small(&place, is_thumbnail, sent)
            .unwrap_or_else(|_| ("image/gif", PIXEL.to_vec()));
        Some(Response::image(kind, bytes))
    }

    /// The leaderboards, or the message that they are being made: resampling many tasks takes seconds.
    fn leaderboards(&self) -> Response {
        let revision = self.library.read().revision;
        let mut making = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        if making.revision != Some(revision) && !making.is_at_work {
            if self.is_live {
                making.is_at_work = true;
                making.revision = Some(revision);
                let (library, board) = (Arc::clone(&self.library), Arc::clone(&self.board));
                // Nobody waits for the thread: it ends with the process.
                thread::spawn(move || {
                    let made = board_of(&library);
                    let mut making = board.lock().unwrap_or_else(PoisonError::into_inner);
                    making.is_at_work = false;
                    making.made = Some(Arc::new(made));
                });
            } else {
                making.revision = Some(revision);
                making.made = Some(Arc::new(board_of(&self.library)));
            }
        }
        match &making.made {
            Some(made) => Response { status: 200, kind: "application/json", body: made.to_vec() },
            None => Response::json(&Working { is_working: true }),
        }
    }
}

fn board_of(library: &Library) -> Vec<u8> {
    let entries = Entries::of(&library.read());
    Response::json(&Board::new(&entries)).body
}

#[derive(Serialize)]
struct Problem {
    problem: String,
}

#[derive(Serialize)]
struct Working {
    is_working: bool,
}

impl Handler for ViewDesk {
    fn page(&self) -> Page {
        page()
    }

    fn answer(&self, request: &Request<'_>) -> Response {
        let path = request.path.strip_prefix("data/").filter(|_| !request.is_post);
        path.and_then(|path| self.document(path)).unwrap_or_else(Response::not_found)
    }
}
