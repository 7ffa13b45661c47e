package dev.fieldveil.clients;

import com.fasterxml.jackson.databind.JsonNode;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.UUID;
import org.hibernate.annotations.DynamicInsert;
import org.hibernate.annotations.DynamicUpdate;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.type.SqlTypes;

/** The table, as Hibernate maps it; only what has a value is written. */
@Entity
@Table(name = "person")
@DynamicInsert
@DynamicUpdate
class Person {
    @Id
    long id;
    String name;
    String ssn;
    UUID ref;
    String email;
    LocalDate born;

    @Column(precision = 12, scale = 2)
    BigDecimal balance;

    Integer visits;
    Double score;
    Boolean active;
    Instant seen;
    LocalDateTime made;

    @JdbcTypeCode(SqlTypes.JSON)
    JsonNode extra;

    byte[] photo;

    Person() {}

    Person(long id) {
        this.id = id;
        this.ssn = Steps.ssn(id);
    }
}
