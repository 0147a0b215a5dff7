//! The cheapest assignment between classes of equal calls, no matter which calls of a class are used: a
//! transportation problem. It may have several solutions of equal cost; this finds the groups of classes within which
//! single calls then have to be chosen.
//!
//! Solved by successive shortest paths with prices on both sides (Ahuja, Magnanti, Orlin: Network Flows, 9.7), one
//! class of rows after the other. By complementary slackness an assignment is a cheapest one if and only if its pairs
//! are tight, that is, cost exactly the sum of their two prices, and only calls without a price stay unmatched.

use std::collections::BTreeMap;

use super::matrix::Matrix;

/// The price of a pair below the threshold, which is never used.
pub(super) const NEVER: i64 = i64::MAX;

/// A bucket is too large to be assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

/// The cost of staying unmatched: more than any path through 2^12 rows at 2^41 each.
const ALONE: i64 = 1 << 56;

/// The most costs that are computed, which take some minutes. Only crafted input needs as many.
const MAX_LOOKS: usize = 1 << 36;

/// Classes whose calls are matched only with one another in every cheapest assignment. Classes whose calls are never
/// matched are in no group.
pub(super) struct Group {
    /// Classes of rows, and whether their calls may stay unmatched.
    pub(super) rows: BTreeMap<usize, bool>,
    /// Classes of columns, and whether their calls may stay unmatched. If a row may, no column may.
    pub(super) columns: BTreeMap<usize, bool>,
    /// Whether any row may be matched with any column.
    pub(super) is_free: bool,
}

/// Groups the classes of a bucket: `prices` are the costs of pairs, at most 2^41, or [`NEVER`] for pairs that are not
/// allowed; `supply` and `demand` are the numbers of calls of each row and of each column.
///
/// # Errors
/// [`TooLarge`] if it takes too long.
pub(super) fn cheapest_groups(
    prices: &Matrix<i64>,
    supply: &[usize],
    demand: Vec<usize>,
) -> Result<Vec<Group>, TooLarge> {
    let mut transport = Transport::new(prices, demand);
    for (row, &calls) in supply.iter().enumerate() {
        transport.send(row, calls)?;
    }
    Ok(transport.groups())
}

struct Transport<'a> {
    prices: &'a Matrix<i64>,
    /// The unmatched calls of each column; the last column takes the calls of rows that stay unmatched.
    free: Vec<usize>,
    /// How many calls of which rows each column is matched with.
    holders: Vec<BTreeMap<usize, usize>>,
    row_price: Vec<i64>,
    column_price: Vec<i64>,
    looks: usize,
}

/// The shortest paths from a row, alternating between a column and a row that could give way there.
struct Paths {
    distance: Vec<i64>,
    /// The row before each column.
    before: Vec<usize>,
    is_done: Vec<bool>,
    /// The column before each reached row, and its distance. The root has no column.
    reached: BTreeMap<usize, (Option<usize>, i64)>,
}

impl<'a> Transport<'a> {
    fn new(prices: &'a Matrix<i64>, mut demand: Vec<usize>) -> Self {
        demand.push(usize::MAX);
        Self {
            prices,
            holders: vec![BTreeMap::new(); demand.len()],
            row_price: vec![0; prices.rows()],
            column_price: vec![0; demand.len()],
            free: demand,
            looks: 0,
        }
    }

    /// The column for calls that stay unmatched.
    fn nobody(&self) -> usize {
        self.prices.columns()
    }

    /// A pair's cost minus both prices; `None` if the pair is not allowed.
    fn rest(&self, row: usize, column: usize) -> Option<i64> {
        let cost = if column == self.nobody() { ALONE } else { self.prices[(row, column)] };
        (cost != NEVER).then(|| cost - self.row_price[row] - self.column_price[column])
    }

    fn is_tight(&self, row: usize, column: usize) -> bool {
        self.rest(row, column) == Some(0)
    }

    /// Finds columns for the calls of a row.
    fn send(&mut self, root: usize, mut calls: usize) -> Result<(), TooLarge> {
        while calls > 0 {
            let (paths, end) = self.paths(root)?;
            let length = paths.distance[end];
            for (&row, &(_, distance)) in &paths.reached {
                self.row_price[row] += length - distance;
            }
            for column in (0..self.free.len()).filter(|&column| paths.is_done[column]) {
                self.column_price[column] -= length - paths.distance[column];
            }
            calls -= self.shift(&paths, end, calls);
        }
        Ok(())
    }

    /// Dijkstra's algorithm, up to the first column with a free call.
    fn paths(&mut self, root: usize) -> Result<(Paths, usize), TooLarge> {
        let columns = self.free.len();
        let mut paths = Paths {
            distance: vec![i64::MAX; columns],
            before: vec![root; columns],
            is_done: vec![false; columns],
            reached: BTreeMap::new(),
        };
        let mut news = vec![(root, (None, 0))];
        loop {
            for (row, found) in news.drain(..) {
                paths.reached.insert(row, found);
                self.looks += columns;
                for column in (0..columns).filter(|&column| !paths.is_done[column]) {
                    let distance = self.rest(row, column).map_or(i64::MAX, |rest| found.1 + rest);
                    if distance < paths.distance[column] {
                        (paths.distance[column], paths.before[column]) = (distance, row);
                    }
                }
            }
            self.looks += columns;
            if self.looks > MAX_LOOKS {
                return Err(TooLarge);
            }
            let open = (0..columns).filter(|&column| !paths.is_done[column]);
            let nearest = open.min_by_key(|&column| paths.distance[column]).unwrap_or(self.nobody());
            if self.free[nearest] > 0 {
                return Ok((paths, nearest));
            }
            paths.is_done[nearest] = true;
            let give_way = self.holders[nearest].keys().filter(|row| !paths.reached.contains_key(row));
            news.extend(give_way.map(|&row| (row, (Some(nearest), paths.distance[nearest]))));
        }
    }

    /// Moves at most this many calls along the path to `end`, as far as there is room; returns how many.
    fn shift(&mut self, paths: &Paths, end: usize, calls: usize) -> usize {
        let steps = |column: usize| {
            let row = paths.before[column];
            let back = paths.reached.get(&row).and_then(|&(back, _)| back);
            (row, back)
        };
        let mut amount = calls.min(self.free[end]);
        let mut column = end;
        while let (row, Some(back)) = steps(column) {
            amount = amount.min(self.holders[back].get(&row).copied().unwrap_or_default());
            column = back;
        }
        if end != self.nobody() {
            self.free[end] -= amount;
        }
        let mut column = Some(end);
        while let Some(at) = column {
            let (row, back) = steps(at);
            *self.holders[at].entry(row).or_default() += amount;
            if let Some(given) = back.and_then(|back| self.holders[back].get_mut(&row)) {
                *given -= amount;
            }
            if let Some(back) = back {
                self.holders[back].retain(|_, held| *held > 0);
            }
            column = back;
        }
        amount
    }

    /// Sorts the classes into groups, along the pairs of cheapest assignments.
    fn groups(&self) -> Vec<Group> {
        let circles = self.circles();
        let (rows, nobody) = (self.prices.rows(), self.nobody());
        let can_meet = |row: usize, column: usize| {
            self.holders[column].contains_key(&row)
                || (circles[row] == circles[rows + column] && self.is_tight(row, column))
        };
        let mut is_taken = vec![false; rows];
        let mut groups = Vec::new();
        for first in 0..rows {
            if std::mem::replace(&mut is_taken[first], true) {
                continue;
            }
            let mut group = Group { rows: BTreeMap::new(), columns: BTreeMap::new(), is_free: false };
            let mut open = vec![first];
            while let Some(row) = open.pop() {
                group.rows.insert(row, self.is_tight(row, nobody));
                for column in (0..nobody).filter(|&column| can_meet(row, column)) {
                    if group.columns.insert(column, self.column_price[column] == 0).is_none() {
                        for row in (0..rows).filter(|&row| can_meet(row, column)) {
                            if !std::mem::replace(&mut is_taken[row], true) {
                                open.push(row);
                            }
                        }
                    }
                }
            }
            let pairs = |row| group.columns.keys().map(move |&column| (row, column));
            group.is_free = group.rows.keys().flat_map(|&row| pairs(row)).all(|(r, c)| self.is_tight(r, c));
            groups.push(group);
        }
        groups.retain(|group| !group.columns.is_empty());
        groups
    }

    /// The component of each row and, after the rows, of each column: two nodes are in the same one if calls can be
    /// shifted from one to the other and back at no cost. Kosaraju's algorithm for strongly connected components.
    fn circles(&self) -> Vec<usize> {
        let nodes = self.prices.rows() + self.free.len();
        let mut order = Vec::with_capacity(nodes);
        let mut is_seen = vec![false; nodes];
        for root in 0..nodes {
            walk(root, &mut is_seen, &|node| self.targets(node), &mut |node| order.push(node));
        }
        let mut circles = vec![0; nodes];
        let mut is_seen = vec![false; nodes];
        for root in order.into_iter().rev() {
            walk(root, &mut is_seen, &|node| self.sources(node), &mut |node| circles[node] = root);
        }
        circles
    }

    /// The nodes to which a node can shift a call at no cost: from a row the columns of its tight pairs; from a
    /// column the rows matched with it; from a column with free calls the last column, which changes the number of
    /// free calls.
    fn targets(&self, node: usize) -> Vec<usize> {
        let (rows, nobody) = (self.prices.rows(), self.nobody());
        let Some(column) = node.checked_sub(rows) else {
            return (0..=nobody).filter(|&column| self.is_tight(node, column)).map(|c| rows + c).collect();
        };
        let mut targets: Vec<usize> = self.holders[column].keys().copied().collect();
        if column == nobody {
            targets.extend((0..nobody).filter(|&column| self.can_lose(column)).map(|column| rows + column));
        } else if self.free[column] > 0 {
            targets.push(rows + nobody);
        }
        targets
    }

    /// The nodes that have this node among their targets.
    fn sources(&self, node: usize) -> Vec<usize> {
        let (rows, nobody) = (self.prices.rows(), self.nobody());
        let Some(column) = node.checked_sub(rows) else {
            let holds = |column: &usize| self.holders[*column].contains_key(&node);
            return (0..=nobody).filter(holds).map(|column| rows + column).collect();
        };
        let mut sources: Vec<usize> = (0..rows).filter(|&row| self.is_tight(row, column)).collect();
        if column == nobody {
            sources.extend((0..nobody).filter(|&column| self.free[column] > 0).map(|column| rows + column));
        } else if self.can_lose(column) {
            sources.push(rows + nobody);
        }
        sources
    }

    /// Whether a column may be matched with fewer calls than it is.
    fn can_lose(&self, column: usize) -> bool {
        self.column_price[column] == 0 && !self.holders[column].is_empty()
    }
}

/// Visits all unseen nodes that can be reached from `root`, depth first; returns each node after those that it leads
/// to.
fn walk(root: usize, is_seen: &mut [bool], next: &dyn Fn(usize) -> Vec<usize>, visit: &mut dyn FnMut(usize)) {
    if std::mem::replace(&mut is_seen[root], true) {
        return;
    }
    let mut open = vec![(root, next(root))];
    while let Some((node, left)) = open.last_mut() {
        match left.pop() {
            Some(other) if std::mem::replace(&mut is_seen[other], true) => {}
            Some(other) => open.push((other, next(other))),
            None => {
                visit(*node);
                open.pop();
            }
        }
    }
}
