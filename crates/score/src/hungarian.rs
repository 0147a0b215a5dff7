//! The cheapest assignment of rows to columns: the Hungarian method (Kuhn 1955, Munkres 1957), one row after the
//! other along a cheapest path, in time cubic in the shorter side.

/// The state of the search. Prices are such that no pair costs less than the sum of its two prices, and assigned
/// pairs cost exactly this sum.
struct Solver<C> {
    cost: C,
    row_prices: Vec<i128>,
    column_prices: Vec<i128>,
    column_of: Vec<Option<usize>>,
    row_of: Vec<Option<usize>>,
}

/// The column of each row, all different, at the least total cost. If there are several such assignments, the result
/// is always the same one: of columns that are equally near, the first is taken.
///
/// `cost` returns the cost of (row, column); the sum of all costs must fit into 128 bits. There must not be more rows
/// than columns: rows beyond the columns get none.
pub(crate) fn cheapest(rows: usize, columns: usize, cost: impl Fn(usize, usize) -> i128) -> Vec<usize> {
    let least = |row| (0..columns).map(|column| cost(row, column)).min().unwrap_or_default();
    let row_prices = (0..rows).map(least).collect();
    let (column_prices, column_of, row_of) = (vec![0; columns], vec![None; rows], vec![None; columns]);
    let mut solver = Solver { cost, row_prices, column_prices, column_of, row_of };
    for row in 0..rows.min(columns) {
        solver.assign(row);
    }
    solver.column_of.into_iter().flatten().collect()
}

/// The pairs of rows and columns of a cheapest assignment, in no particular order. `rows_first` says which side chooses:
/// it must not be the longer one.
pub(crate) fn cheapest_pairs(
    rows: usize,
    columns: usize,
    rows_first: bool,
    cost: impl Fn(usize, usize) -> i128,
) -> Vec<(usize, usize)> {
    if rows_first {
        cheapest(rows, columns, cost).into_iter().enumerate().collect()
    } else {
        let rows = cheapest(columns, rows, |column, row| cost(row, column));
        rows.into_iter().enumerate().map(|(column, row)| (row, column)).collect()
    }
}

impl<C: Fn(usize, usize) -> i128> Solver<C> {
    /// A pair's cost minus both prices.
    fn rest(&self, row: usize, column: usize) -> i128 {
        (self.cost)(row, column) - self.row_prices[row] - self.column_prices[column]
    }

    /// Finds a column for one more row: the nearest free one, on a path on which every row gives up its column for
    /// another.
    fn assign(&mut self, root: usize) {
        let columns = self.row_of.len();
        let mut rest: Vec<i128> = (0..columns).map(|column| self.rest(root, column)).collect();
        let mut row_before = vec![root; columns];
        let (mut rows_on_way, mut is_on_way) = (vec![root], vec![false; columns]);
        let free = loop {
            let nearest =
                (0..columns).filter(|&column| !is_on_way[column]).min_by_key(|&column| rest[column]);
            // This cannot happen: there are at least as many columns as rows, so one of them is free.
            let Some(nearest) = nearest else { return };
            self.pay(rest[nearest], &rows_on_way, &is_on_way, &mut rest);
            is_on_way[nearest] = true;
            let Some(row) = self.row_of[nearest] else { break nearest };
            rows_on_way.push(row);
            for column in (0..columns).filter(|&column| !is_on_way[column]) {
                let from_here = self.rest(row, column);
                if from_here < rest[column] {
                    rest[column] = from_here;
                    row_before[column] = row;
                }
            }
        };
        self.give_way(free, &row_before);
    }

    /// Raises the prices of the rows on the path, and lowers those of their columns, by this amount.
    fn pay(&mut self, price: i128, rows_on_way: &[usize], is_on_way: &[bool], rest: &mut [i128]) {
        for &row in rows_on_way {
            self.row_prices[row] += price;
        }
        for (column, is_on_way) in is_on_way.iter().enumerate() {
            if *is_on_way {
                self.column_prices[column] -= price;
            } else {
                rest[column] -= price;
            }
        }
    }

    /// Gives the free column to the row before it on the path, that row's old column to the row before, and so on to
    /// the root.
    fn give_way(&mut self, free: usize, row_before: &[usize]) {
        let mut next = Some(free);
        while let Some(column) = next {
            let row = row_before[column];
            self.row_of[column] = Some(row);
            next = self.column_of[row].replace(column);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::cheapest;

    #[test]
    fn a_row_gives_way_where_that_is_cheaper() {
        // By hand: 2 + 2 + 2, while taking the nearest column for each row in turn costs 1 + 2 + 9.
        let costs = [[1, 2, 9], [3, 3, 2], [2, 9, 9]];
        let columns = cheapest(3, 3, |row, column| costs[row][column]);
        let total: i128 = columns.iter().enumerate().map(|(row, &column)| costs[row][column]).sum();
        assert_eq!((columns, total), (vec![1, 2, 0], 6));
        assert!(cheapest(0, 3, |_, _| 0).is_empty() && cheapest(2, 0, |_, _| 7).is_empty());
        assert_eq!(cheapest(2, 4, |_, _| 7), [0, 1]);
    }
}
