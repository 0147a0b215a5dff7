//! Work on the parts of a large file on all cores: results come in the order of the parts, and only a few parts are in
//! memory at once, whatever the size of the file.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use crate::sink::{ReadError, Sink};

/// The most threads for one file: more would only wait for the thread that reads.
const THREADS: usize = 8;

/// The most bytes of text that are worked on at once; a larger part is worked on alone.
const BYTES: usize = 8 << 20;

/// The bytes of a part, unless one record is longer. The results take several times as much memory.
pub(crate) const PART: usize = 1 << 20;

/// Does `work` on each of the parts that `next` gives with their sizes, and calls `give` with the results in order.
/// After an error of `next`, the results of the parts before it are still given.
pub(crate) fn in_order<P: Send, T: Send>(
    sink: &mut dyn Sink,
    mut next: impl FnMut(&mut dyn Sink) -> Result<Option<(usize, P)>, ReadError>,
    work: impl Fn(P) -> T + Sync,
    mut give: impl FnMut(&mut dyn Sink, T) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let (mut ready, mut ended) = (VecDeque::new(), None);
    while ready.len() < 2 && ended.is_none() {
        step(&mut ready, &mut ended, next(sink));
    }
    if ready.len() < 2 {
        // One part alone, as of most files, needs no threads.
        ready.into_iter().try_for_each(|(_, part)| give(sink, work(part)))?;
        return ended.unwrap_or(Ok(()));
    }
    let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    let (jobs, queue) = mpsc::channel::<(P, mpsc::Sender<T>)>();
    let (queue, work) = (&Mutex::new(queue), &work);
    thread::scope(move |scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((part, answer)) = job else { break };
                    // After an error the receiver is gone.
                    let _ = answer.send(work(part));
                }
            });
        }
        let (mut waiting, mut bytes) = (VecDeque::new(), 0_usize);
        loop {
            while waiting.is_empty() || (waiting.len() < 2 * threads && bytes < BYTES) {
                if ready.is_empty() && ended.is_none() {
                    step(&mut ready, &mut ended, next(sink));
                }
                let Some((size, part)) = ready.pop_front() else { break };
                let (answer, result) = mpsc::channel();
                // The threads end after the last job.
                let _ = jobs.send((part, answer));
                bytes = bytes.saturating_add(size);
                waiting.push_back((size, result));
            }
            let Some((size, result)) = waiting.pop_front() else { return ended.unwrap_or(Ok(())) };
            // A thread that failed by a bug passes its panic on when the scope ends.
            let Ok(done) = result.recv() else { return Ok(()) };
            bytes = bytes.saturating_sub(size);
            give(sink, done)?;
        }
    })
}

/// Stores the next part, or how the parts ended.
fn step<P>(
    ready: &mut VecDeque<(usize, P)>,
    ended: &mut Option<Result<(), ReadError>>,
    next: Result<Option<(usize, P)>, ReadError>,
) {
    match next {
        Ok(Some(part)) => ready.push_back(part),
        Ok(None) => *ended = Some(Ok(())),
        Err(error) => *ended = Some(Err(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::CollectingSink;

    fn run(parts: usize, fails_at: Option<usize>) -> (Vec<usize>, bool) {
        let (mut next, mut given) = (0, Vec::new());
        let result = in_order(
            &mut CollectingSink::default(),
            |_| {
                if Some(next) == fails_at {
                    return Err(ReadError::refused("no more"));
                }
                next += 1;
                Ok((next <= parts).then_some((PART, next - 1)))
            },
            |part| part * 2,
            |_, done| {
                given.push(done);
                Ok(())
            },
        );
        (given, result.is_err())
    }

    #[test]
    fn results_are_in_order_also_before_an_error() {
        for parts in [0, 1, 2, 100] {
            assert_eq!(run(parts, None), ((0..parts).map(|part| part * 2).collect(), false));
            assert_eq!(run(parts, Some(parts)), ((0..parts).map(|part| part * 2).collect(), true));
        }
    }

    #[test]
    fn who_receives_can_stop() {
        let mut given = 0;
        let result = in_order(
            &mut CollectingSink::default(),
            |_| Ok(Some((1, ()))),
            |()| (),
            |_, ()| {
                given += 1;
                if given == 5 { Err(ReadError::Stopped) } else { Ok(()) }
            },
        );
        assert!(matches!(result, Err(ReadError::Stopped)) && given == 5);
    }
}
