"""The row that most tests write, and ways to read it."""

COLUMNS = ("id", "name", "email", "ssn", "phone", "card", "notes")
LIST = ", ".join(COLUMNS)
INSERT = f"INSERT INTO customer ({LIST}) VALUES (%s, %s, %s, %s, %s, %s, %s)"
SELECT = f"SELECT {LIST} FROM customer WHERE id = %s"

ADA = (1, "Ada", "ada@example.com", "078-05-1120", "+44 20 7946 0958", "4111 1111 1111 1111", "a note")
ALAN = (2, "Alan", "alan@example.org", "219-09-9999", "+44 161 496 0000", "5500 0000 0000 0004", None)
