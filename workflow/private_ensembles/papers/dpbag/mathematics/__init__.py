"""DPBag: votes of teachers bagged over several partitions, at a cost personal to each record."""
