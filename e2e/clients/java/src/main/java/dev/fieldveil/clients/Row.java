package dev.fieldveil.clients;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;

/** One person, in Java's own types. */
record Row(long id, String name, String ssn, UUID ref, String email, LocalDate born, BigDecimal balance, int visits,
        double score, boolean active, Instant seen, LocalDateTime made, String extra, String photo) {

    static final String SSN = "078-05-1120";
    static final String NEW_EMAIL = "new@example.com", LAST_EMAIL = "two@example.com";
    static final BigDecimal NEW_BALANCE = new BigDecimal("-0.05");

    /** The row that is there from the beginning. */
    static final Row FIRST = new Row(1, "Zoë", SSN, UUID.fromString("c56a4180-65aa-42ec-a945-5fd21dec0538"),
            "zoë@example.com", LocalDate.of(1980, 5, 17), new BigDecimal("1234.50"), 42, 0.1, true,
            Instant.parse("2024-02-29T10:00:00.5Z"), LocalDateTime.parse("1999-12-31T23:59:59.123"),
            "{\"a\": [1, 2.5], \"b\": \"x\"}", "00ff10");

    /** All columns of the row with this id. */
    static Row numbered(long id) {
        return new Row(id, FIRST.name, Steps.ssn(id), new UUID(0, id), FIRST.email, FIRST.born, FIRST.balance,
                FIRST.visits, FIRST.score, FIRST.active, FIRST.seen, FIRST.made, FIRST.extra, FIRST.photo);
    }

    byte[] photoBytes() {
        return HexFormat.of().parseHex(photo);
    }

    /** A row as it is copied in. */
    record Copied(long id, String name, String email, String ssn, LocalDate born) {
        private static final String ODD = "tab\tand \\ and\nline";
        static final List<Copied> ALL = List.of(
                new Copied(600, "first", "first@example.com", "ssn-600", LocalDate.of(2000, 2, 29)),
                new Copied(601, ODD, ODD, "ssn-601", LocalDate.of(1, 1, 1)),
                new Copied(602, "last", "", "ssn-602", null));

        /** In COPY's text format. */
        String line() {
            return String.join("\t", Long.toString(id), escaped(name), escaped(email), ssn,
                    born == null ? "\\N" : born.toString()) + "\n";
        }

        private static String escaped(String text) {
            return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n");
        }
    }
}
