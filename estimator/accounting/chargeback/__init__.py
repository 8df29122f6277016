"""What workloads cost in money: a price file, cost centres, and the sums over a period."""
