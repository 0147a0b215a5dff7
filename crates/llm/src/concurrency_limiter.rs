//! Limits the number of simultaneous requests to a provider to what it accepts. A 429 lowers the limit, answers slowly
//! raise it again (additive increase, multiplicative decrease, as TCP does); other failures do not change it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until, timeout_at};

/// Lets a limited number of requests to one provider run at once, in the order in which they ask.
#[derive(Debug)]
pub(super) struct ConcurrencyLimiter {
    semaphore: Semaphore,
    state: Mutex<State>,
    most: usize,
}

#[derive(Debug)]
struct State {
    limit: usize,
    /// The number of running requests above the limit: their places are not given again.
    owed: usize,
    /// The number of times the limit was lowered. A further 429 for a request that was sent before does not lower it
    /// again.
    lowered: u64,
    /// The number of answers since the limit was changed.
    answers: usize,
    paused_until: Option<Instant>,
}

/// A place for one request, free again once it is dropped.
#[derive(Debug)]
pub(super) struct Place<'a> {
    limiter: &'a ConcurrencyLimiter,
    permit: Option<SemaphorePermit<'a>>,
    lowered: u64,
}

impl ConcurrencyLimiter {
    /// A limiter with `most` places at first and at most, but at least one.
    pub(super) fn new(most: usize) -> Self {
        let most = most.clamp(1, Semaphore::MAX_PERMITS);
        let state = State { limit: most, owed: 0, lowered: 0, answers: 0, paused_until: None };
        Self { semaphore: Semaphore::new(most), state: Mutex::new(state), most }
    }

    /// The current number of places.
    pub(super) fn limit(&self) -> usize {
        self.lock().limit
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place, and for the end of a pause.
    ///
    /// # Errors
    /// The reason in words, if there is no place before the deadline.
    pub(super) async fn take(&self, deadline: Instant) -> Result<Place<'_>, String> {
        let permit = match timeout_at(deadline, self.semaphore.acquire()).await {
            Ok(Ok(permit)) => permit,
            Ok(Err(_)) => return Err("no more requests are sent".to_owned()),
            Err(_) => return Err("other requests to the provider took all the time".to_owned()),
        };
        let mut place = Place { limiter: self, permit: Some(permit), lowered: 0 };
        loop {
            let pause = {
                let state = self.lock();
                place.lowered = state.lowered;
                state.paused_until.filter(|pause| *pause > Instant::now())
            };
            match pause {
                None => return Ok(place),
                Some(pause) if pause >= deadline => {
                    return Err(
                        "the provider wants to be left alone for longer than there is time".to_owned()
                    );
                }
                Some(pause) => sleep_until(pause).await,
            }
        }
    }
}

impl Place<'_> {
    /// Notes that a request was answered.
    pub(super) fn answered(&self) {
        let mut state = self.limiter.lock();
        state.answers += 1;
        if state.answers < state.limit || state.limit == self.limiter.most {
            return;
        }
        state.answers = 0;
        state.limit += 1;
        match state.owed.checked_sub(1) {
            Some(owed) => state.owed = owed,
            None => self.limiter.semaphore.add_permits(1),
        }
    }

    /// Notes that the provider refused the number of requests (429), and how long it wants to pause.
    pub(super) fn too_many(&self, pause: Option<Duration>) {
        let mut state = self.limiter.lock();
        if let Some(until) = pause.and_then(|pause| Instant::now().checked_add(pause)) {
            state.paused_until = state.paused_until.max(Some(until));
        }
        if self.lowered == state.lowered {
            let limit = (state.limit * 4 / 5).max(1);
            state.owed += state.limit - limit;
            state.owed -= self.limiter.semaphore.forget_permits(state.owed);
            state.limit = limit;
            state.lowered += 1;
            state.answers = 0;
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.limiter.lock();
        if let Some(owed) = state.owed.checked_sub(1) {
            state.owed = owed;
            if let Some(permit) = self.permit.take() {
                permit.forget();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_mins(1)
    }

    #[tokio::test]
    async fn the_limit_falls_once_for_requests_on_their_way_and_grows_slowly() {
        let limiter = ConcurrencyLimiter::new(10);
        let mut taken = Vec::new();
        for _ in 0..10 {
            taken.push(limiter.take(soon()).await.unwrap());
        }
        for place in &taken {
            place.too_many(None);
        }
        assert_eq!(limiter.limit(), 8);
        assert!(limiter.take(soon()).now_or_never().is_none(), "all are taken");
        taken.truncate(8);
        assert!(limiter.take(soon()).now_or_never().is_none(), "two were given up");
        taken.truncate(7);
        let place = limiter.take(soon()).await.unwrap();
        place.too_many(None);
        assert_eq!(limiter.limit(), 6);
        for _ in 0..5 {
            place.answered();
        }
        assert_eq!(limiter.limit(), 6);
        place.answered();
        assert_eq!(limiter.limit(), 7);
        for _ in 0..100 {
            place.answered();
        }
        assert_eq!(limiter.limit(), 10);
        drop((place, taken));
        assert_eq!(limiter.semaphore.available_permits(), 10);
    }

    #[tokio::test]
    async fn one_place_is_always_left() {
        let limiter = ConcurrencyLimiter::new(3);
        for limit in [2, 1, 1] {
            limiter.take(soon()).await.unwrap().too_many(None);
            assert_eq!(limiter.limit(), limit);
            assert_eq!(limiter.semaphore.available_permits(), limit);
        }
    }

    #[tokio::test]
    async fn a_pause_holds_for_all_and_is_not_waited_for_in_vain() {
        let limiter = ConcurrencyLimiter::new(2);
        let start = Instant::now();
        limiter.take(soon()).await.unwrap().too_many(Some(Duration::from_millis(300)));
        let error = limiter.take(start + Duration::from_millis(299)).now_or_never().unwrap().unwrap_err();
        assert!(error.contains("left alone"), "{error}");
        limiter.take(soon()).await.unwrap();
        assert!(start.elapsed() >= Duration::from_millis(300));
    }
}
