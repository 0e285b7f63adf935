FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=${VERSION}" -o /out/dwserver ./cmd/dwserver \
 && mkdir /out/data

FROM scratch
COPY --from=build /out/dwserver /dwserver
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
# SQLite's file; the server itself writes nowhere else.
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
VOLUME /data
# Beyond loopback the server starts only with a token (DW_AUTH_TOKEN or role tokens), or with
# DW_AUTH_DRIVER=none said on purpose.
ENV DW_LISTEN=0.0.0.0:8080 DW_DATABASE_URL=sqlite:///data/dwserver.db
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["/dwserver", "health"]
ENTRYPOINT ["/dwserver"]
