"""What the scenarios share: the server process, worker processes, histories, and the record of the wire."""
